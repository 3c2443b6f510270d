#!/bin/sh
# stops.sh WORDS COMMAND...: COMMAND fails, and what it says matches the basic regular expression WORDS.
words=$1
shift
said=$("$@" 2>&1) && { echo "it did not fail: $said"; exit 1; }
echo "$said" | grep -q "$words" || { echo "it did not say '$words': $said"; exit 1; }
