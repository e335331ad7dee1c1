# The score is a digest of what the tasks made.
echo $(($(sh answer.sh | cut -d' ' -f1) % 101))
