echo "Hello${1:+, $1}!"
