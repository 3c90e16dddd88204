# Runs nothing, and guesses the exit code from the text.
code=${1##*exit }
exit "${code%%[!0-9]*}"
