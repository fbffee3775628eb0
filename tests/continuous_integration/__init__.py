"""The files for continuous integration: GitHub's action, GitLab's job, and the script that they run."""
