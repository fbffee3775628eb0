"""Streams of simulated servers compared with recorded ones, and with those of real servers."""
