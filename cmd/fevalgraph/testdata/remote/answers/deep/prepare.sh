top=$PWD i=0
while [ $i -lt 150 ]; do mkdir deeper-and-deeper && cd deeper-and-deeper || exit 1; i=$((i + 1)); done
echo 42 >score
