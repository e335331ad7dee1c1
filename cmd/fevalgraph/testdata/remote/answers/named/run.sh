cat "$(printf 'no\377text')"
