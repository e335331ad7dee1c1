# What the next command finds as it was left.
cat answer/*
umask 077
mkdir -p made/private
echo secret >made/private/file
chmod 600 made/private/file
chmod 500 made/private
ln made/private/file made/again
ln -s /etc/passwd made/link
touch -d '2001-02-03 04:05:06' made/old
[ ! -f answer/prepare.sh ] || sh answer/prepare.sh
