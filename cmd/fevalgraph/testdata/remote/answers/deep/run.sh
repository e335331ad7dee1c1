i=0
while [ $i -lt 150 ]; do cd deeper-and-deeper || exit 1; i=$((i + 1)); done
cat score
