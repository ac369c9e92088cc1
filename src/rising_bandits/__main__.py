"""``python -m rising_bandits`` is the command ``rising``."""

from rising_bandits.cli import main

if __name__ == "__main__":
    main()
