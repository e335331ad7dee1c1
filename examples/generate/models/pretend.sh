# pretend.sh MODEL: reads a prompt and answers like a model.
prompt=$(cat)
case "$1 $prompt" in
keen*)
	cat <<'END'
A loop counts down:

```sh countdown.sh
i=$1
while [ "$i" -gt 0 ]; do
	echo "$i"
	i=$((i - 1))
done
```
END
	;;
*"attempt 1"*)
	cat <<'END'
```
seq "$1" -1 0
```
END
	;;
*) echo "I would rather not." ;;
esac
