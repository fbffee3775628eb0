"""Tests of logical decoding and of the interface of output plugins."""
