"""Parts that commands share: options, words, printing, and the end of the program."""
