"""Terminals elsewhere: one shell, one set of files and one search for every place that can start a program."""
