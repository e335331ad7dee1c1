[ built -nt answer/run.sh ] && echo 43
