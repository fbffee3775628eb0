"""Tests of what each statement does to the catalog."""
