#!/bin/bash
# Runs the package under a real systemd as process 1, in namespaces of its own, and asks of it what docs/SERVICE.md says.
#
#   dist/stage/systemd.sh ROOT DEB [JOURNAL]
#
# ROOT is a Debian with systemd, which is copied:
#
#   mmdebstrap --variant=minbase --include=systemd,systemd-sysv,dbus,iproute2,curl,procps bookworm ROOT
#
# DEB is what `make deb` makes, JOURNAL a companiond.db.gz of an older version. It wants to be root, and leaves nothing behind;
# `make stage` makes all that it needs.
set -euo pipefail
base=$(realpath "$1"); deb=$(realpath "$2"); old=${3:+$(realpath "$3")}
[ "$(id -u)" = 0 ] || { echo "skipped: it wants to be root"; exit 0; }
work=$(mktemp -d /tmp/companiond-stage.XXXXXX)
root=$work/root
group=$(ls -d /sys/fs/cgroup/unified 2>/dev/null || echo /sys/fs/cgroup)/companiond-stage-$$
cp -a "$base" "$root"
cp "$deb" "$root/root/companiond.deb"
[ -z "$old" ] || gunzip < "$old" > "$root/root/old.db"
cp /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null || true
mkdir "$group"
sh -c "echo \$\$ > $group/cgroup.procs; exec unshare --pid --fork --kill-child --mount --cgroup --uts --ipc --net --propagation private bash -ec '
  mount --bind $root $root; cd $root
  mount -t proc proc proc; mount -t sysfs -o ro sysfs sys; mount -t cgroup2 cgroup2 sys/fs/cgroup
  mount -t tmpfs tmpfs run; mount -t tmpfs tmpfs dev
  for d in null zero full random urandom tty; do touch dev/\$d; mount --bind /dev/\$d dev/\$d; done
  mkdir dev/pts dev/shm old; mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts; ln -s pts/ptmx dev/ptmx; ln -s /proc/self/fd dev/fd
  pivot_root . old; umount -l /old; rmdir /old || true; mount --make-rshared /
  exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd
'" > "$work/systemd.log" 2>&1 &
outer=$!
disown
loop=
end() {
  trap - EXIT
  [ -z "$loop" ] || inside fsfreeze -u /var/lib/companiond 2>/dev/null || true
  kill -9 "$outer" 2>/dev/null || true
  sleep 1
  find "$group" -depth -type d -exec rmdir {} \; 2>/dev/null || true
  [ -z "$loop" ] || losetup -d "$loop" || true
  rm -rf "$work"
}
trap end EXIT
for _ in $(seq 100); do pid=$(pgrep -f "^/lib/systemd/systemd$" -P "$(pgrep -P "$outer" unshare || echo "$outer")" || true); [ -n "$pid" ] && break; sleep .1; done
inside() { nsenter -t "$pid" -a env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@"; }
for _ in $(seq 100); do state=$(inside systemctl is-system-running 2>/dev/null || true); case $state in running|degraded) break;; esac; sleep .2; done
inside ip link set lo up
fails=0
step() { # NAME COMMAND...
  local name=$1; shift
  if out=$("$@" 2>&1); then echo "ok    $name"; else echo "FAILS $name: $(tail -c 600 <<< "$out")"; inside journalctl -u companiond -n 6 --no-pager || true; fails=$((fails + 1)); fi
}
up() { for _ in $(seq 100); do inside curl -sf http://127.0.0.1:3000/v1/rooms > /dev/null && return; sleep .2; done; return 1; }
says() { inside curl -sf -X POST http://127.0.0.1:3000/v1/rooms/main/messages -H 'content-type: application/json' -d '{"from":"taro","text":"'"$1"'"}'; }
answered() { for _ in $(seq 100); do inside curl -sf "http://127.0.0.1:3000/v1/rooms/main/messages?limit=200" | grep -q "\"from\":\"$1\"" && return; sleep .2; done; return 1; }

everything() { inside find /etc /usr /lib /var /root /home -xdev -not -path '/var/lib/dpkg/*' -not -path '/var/log/*' -not -path '/var/lib/systemd/*' -not -name '*-' -not -path '/home/maker*' -not -path /root/old.db | sort; }
inside useradd -m maker
everything > "$work/before"
step "the package installs and the service runs" inside dpkg -i /root/companiond.deb
step "it is up" up
step "it says how it is" bash -c "nsenter -t $pid -a systemctl status companiond | grep -q 'Status: .*3 companions, 1 rooms, WebAssembly is compiled'"
step "it is its own user" bash -c "[ \$(nsenter -t $pid -a ps -o user= -C companiond | head -1) = compani+ ] || [ \$(nsenter -t $pid -a ps -o user:20= -C companiond | head -1) = companiond ]"
step "characters talk" says "Hello, all of you!"
step "and answer" answered aya
inside usermod -aG companiond maker
step "a member of the group drops a character" inside su maker -s /bin/sh -c 'sed "s/^id: .*//" /usr/share/companiond/characters/kyoko.talk.txt > /var/lib/companiond/characters/mio.talk.txt'
step "who is there at once" bash -c "for i in \$(seq 50); do nsenter -t $pid -a curl -sf http://127.0.0.1:3000/v1/companions | grep -q '\"id\":\"mio\"' && exit; sleep .2; done; exit 1"
step "but reads no journal" bash -c "! nsenter -t $pid -a su maker -s /bin/sh -c 'cat /var/lib/companiond/companiond.db' > /dev/null 2>&1"
inside sed -i 's/^#patience = .*/patience = "2s"/' /etc/companiond/companiond.toml
step "reload takes a room's key" inside systemctl reload companiond
inside sed -i 's/^#pace = .*/pace = "soon"/' /etc/companiond/companiond.toml
step "reload of a mistake fails, and says which" bash -c "! nsenter -t $pid -a systemctl reload companiond; nsenter -t $pid -a journalctl -u companiond --no-pager | grep -q 'room.main.pace'"
step "and it runs on" up
inside sed -i 's/^pace = "soon"/#pace = "auto"/' /etc/companiond/companiond.toml
main=$(inside systemctl show -p MainPID --value companiond)
[ "$main" != 0 ] && inside kill -STOP "$main"
step "a daemon that hangs is started anew by the watchdog" bash -c "for i in \$(seq 400); do p=\$(nsenter -t $pid -a systemctl show -p MainPID --value companiond); [ \$p != $main ] && [ \$p != 0 ] && exit; sleep .2; done; exit 1"
step "and is up" up
main=$(inside systemctl show -p MainPID --value companiond)
[ "$main" != 0 ] && inside kill -9 "$main"
step "one that is killed, too" bash -c "for i in \$(seq 100); do p=\$(nsenter -t $pid -a systemctl show -p MainPID --value companiond); [ \$p != $main ] && [ \$p != 0 ] && exit; sleep .2; done; exit 1"
step "and is up" up
step "what was said is there" answered aya
inside systemctl stop companiond
step "the socket unit listens" inside systemctl enable --now companiond.socket
step "whoever connects starts it, and waits" inside curl -sf --max-time 60 http://127.0.0.1:3000/v1/rooms
(for i in $(seq 20); do inside curl -s -o /dev/null -w '%{http_code}\n' --max-time 30 http://127.0.0.1:3000/v1/rooms; sleep .1; done > "$work/codes") & asks=$!
inside systemctl restart companiond; wait $asks
step "20 requests over a restart are answered" bash -c "[ \$(grep -c 200 $work/codes) = 20 ] || { cat $work/codes; exit 1; }"
step "a credential is read" bash -c "nsenter -t $pid -a companiond token mika -kind human -scope read,talk,act,admin -file /etc/companiond/tokens > /dev/null && nsenter -t $pid -a sed -i 's/^#tokens = .*/tokens = \"credential:tokens\"/' /etc/companiond/companiond.toml && nsenter -t $pid -a systemctl restart companiond"
step "and it is up" up
# What is typed beside the service finds its folders by itself.
theirs() { inside sh -c '! find /var/lib/companiond -not -path "*/characters/*" \( ! -user companiond -o ! -group companiond \) -ls | grep .'; }
typed() { inside sh -c "cd /root && $1"; }
step "doctor is about the service" bash -c "nsenter -t $pid -a sh -c 'cd /root && companiond doctor 2>&1' > $work/doctor; grep -q '^taken: /etc/companiond/companiond.toml' $work/doctor && grep -Eq 'ok +journal +/var/lib/companiond/companiond.db, ' $work/doctor && grep -Eq 'ok +daemon +process ' $work/doctor && ! grep -q '^fail' $work/doctor || { cat $work/doctor; exit 1; }"
step "so is status" typed "companiond status 2>&1 | grep -q '127.0.0.1:3000'"
step "so is reload" typed "companiond reload"
step "and what anybody says" inside su maker -s /bin/sh -c "cd && companiond say Good evening."
step "said before the backup" says "Before-the-backup."
step "a backup, beside the daemon" typed "companiond backup -tokens /root/one.tar.gz"
step "said behind it" says "Behind-the-backup."
step "restore is refused while it runs" typed "! companiond restore -force /root/one.tar.gz"
inside systemctl stop companiond.service companiond.socket
step "a backup of what is stopped" typed "companiond backup /root/two.tar.gz"
step "leaves it to its owner" theirs
step "restore" typed "companiond restore -force /root/one.tar.gz"
step "gives all to the service's user" theirs
step "which starts" inside systemctl start companiond
step "and is up" up
texts() { inside curl -sf "http://127.0.0.1:3000/v1/rooms/main/messages?limit=200"; }
step "with what was said before" bash -c "grep -q Before-the-backup. <<< '$(texts | tr -d \')'"
step "and not what came behind" bash -c "! grep -q Behind-the-backup. <<< '$(texts | tr -d \')'"
step "a member of the group still drops characters" inside su maker -s /bin/sh -c 'touch /var/lib/companiond/characters/x && rm /var/lib/companiond/characters/x'
step "without its state folder it is made anew from the backup" typed 'systemctl stop companiond && rm -r /var/lib/companiond/* && companiond restore /root/one.tar.gz'
step "and is the service's" theirs
step "which starts on it" inside systemctl start companiond
step "and is up" up
inside rm /root/one.tar.gz /root/two.tar.gz
# A room hangs for real where the disk does not take what it writes down. A thread that the kernel holds at a mapped page keeps its share
# of GOMAXPROCS, and a collection of garbage would wait for it: with more of the one and none of the other, the rest of the daemon runs on.
if truncate -s 3G "$work/state.img" && mkfs.ext4 -q "$work/state.img" && loop=$(losetup -f --show "$work/state.img"); then
  inside sh -ec "systemctl stop companiond; mknod $loop b 7 ${loop#/dev/loop}; mkdir /run/state; mount $loop /run/state; rmdir /run/state/lost+found
    cp -a /var/lib/companiond/. /run/state; umount /run/state; mount $loop /var/lib/companiond
    mkdir -p /run/systemd/system/companiond.service.d; printf '[Service]\nWatchdogSec=6\nEnvironment=GOMAXPROCS=16 GOGC=off\n' > /run/systemd/system/companiond.service.d/stage.conf
    systemctl daemon-reload; systemctl start companiond"
  step "with another disk it is up" up
  for i in 1 2 3; do step "acknowledged $i" says "Acknowledged-$i."; done
  main=$(inside systemctl show -p MainPID --value companiond)
  inside fsfreeze -f /var/lib/companiond
  inside curl -s -o /dev/null --max-time 3 -X POST http://127.0.0.1:3000/v1/rooms/main/messages -H 'content-type: application/json' -d '{"from":"taro","text":"Frozen."}' || true
  step "a room that hangs is found" bash -c "for i in \$(seq 300); do nsenter -t $pid -a journalctl -u companiond --no-pager _PID=$main | grep -q 'the daemon does not work.*main' && exit; sleep .2; done; exit 1"
  step "and the watchdog strikes" bash -c "for i in \$(seq 300); do nsenter -t $pid -a journalctl -u companiond --no-pager | grep -q 'Watchdog timeout (limit 6s)' && exit; sleep .2; done; exit 1"
  inside fsfreeze -u /var/lib/companiond
  step "it is started anew" bash -c "for i in \$(seq 300); do p=\$(nsenter -t $pid -a systemctl show -p MainPID --value companiond); [ \$p != $main ] && [ \$p != 0 ] && exit; sleep .2; done; exit 1"
  step "and is up" up
  for i in 1 2 3; do step "nothing acknowledged is lost: $i" bash -c "grep -q Acknowledged-$i. <<< '$(texts | tr -d \')'"; done
  step "and it talks on" says "Thawed."
  inside sh -ec "systemctl stop companiond; rm -r /run/systemd/system/companiond.service.d; systemctl daemon-reload; cp -a /var/lib/companiond /run/kept
    umount /var/lib/companiond; rm -r /var/lib/companiond/*; cp -a /run/kept/. /var/lib/companiond; rm -r /run/kept /run/state $loop; systemctl start companiond"
  losetup -d "$loop"; loop=
  step "and is up where it was" up
else
  loop=; echo "skipped: a room that hangs, for a disk that stands still cannot be had here"
fi
step "the score" bash -c "nsenter -t $pid -a systemd-analyze security companiond | tail -1 | grep -Eq ' (0\.[0-9]|1\.[01]) OK'"
step "the manual is there" inside sh -c 'zcat /usr/share/man/man1/companiond.1.gz | grep -q "companiond reload" && zcat /usr/share/man/man5/companiond.toml.5.gz | grep -q patience'
step "and completions" inside bash -c '. /usr/share/bash-completion/completions/companiond; COMP_WORDS=(companiond relo); COMP_CWORD=1; _companiond; [ "$COMPREPLY" = reload ]'
inside systemctl stop companiond.service companiond.socket
inside sh -ec 'journalctl --relinquish-var; for d in /var/lib/companiond /var/cache/companiond; do mount --bind $d $d; done; for d in /tmp /var/tmp; do mount -t tmpfs tmpfs $d; done; mount -o remount,ro,bind /'
step "the root is read-only" bash -c "! nsenter -t $pid -a touch /etc/companiond/x /usr/x 2>/dev/null"
step "there it starts" inside systemctl start companiond
step "and is up" up
step "and talks" says "Are you there?"
inside systemctl stop companiond.service companiond.socket
inside sh -ec 'mount -o remount,rw,bind /; journalctl --flush; for d in /var/lib/companiond /var/cache/companiond /tmp /var/tmp; do umount $d; done'
if [ -n "$old" ]; then
  inside sh -ec 'cd /var/lib/companiond; mkdir /root/now; mv companiond.db* heads search.db* /root/now; install -o companiond -g companiond -m 600 /root/old.db companiond.db; rm /root/old.db'
  step "the journal of an older version opens" inside systemctl start companiond
  step "and is up" up
  step "with what was said" bash -c "nsenter -t $pid -a curl -sf 'http://127.0.0.1:3000/v1/rooms/main/messages?limit=5' | grep -q '\"text\"'"
  step "and goes on" says "Years later."
  inside sh -ec 'systemctl stop companiond; cd /var/lib/companiond; rm -r companiond.db* heads search.db*; mv /root/now/* .; rmdir /root/now'
fi
step "remove keeps the journal" inside dpkg -r companiond
step "which is there" inside test -f /var/lib/companiond/companiond.db
step "purge takes all" inside dpkg -P companiond
step "and nothing is left" bash -c "! nsenter -t $pid -a sh -c 'ls -d /var/lib/companiond /var/cache/companiond /etc/companiond /usr/share/companiond /usr/bin/companiond' 2>/dev/null"
everything > "$work/after"
step "but what was there before" diff "$work/before" "$work/after"
step "nor its user" bash -c "! nsenter -t $pid -a getent passwd companiond"
dpkg-deb --fsys-tarfile "$deb" | tar -xO ./usr/bin/companiond > "$root/usr/local/bin/companiond" && chmod 755 "$root/usr/local/bin/companiond"
step "without the package: service install -system" inside /usr/local/bin/companiond service install -system
step "is up" up
step "reloads" inside systemctl reload companiond
step "and is removed" inside /usr/local/bin/companiond service remove -system
step "and is gone" bash -c "! nsenter -t $pid -a systemctl is-active companiond"
# A user's own, where the root has what makes sessions (libpam-systemd).
if inside systemctl start "user@$(inside id -u maker).service"; then
  own() { inside su maker -s /bin/sh -c "cd && export PATH=/usr/local/bin:/usr/bin:/bin XDG_RUNTIME_DIR=/run/user/\$(id -u) && $1"; }
  step "a user's service: installed" own "mkdir -p characters && companiond check -print > companiond.toml && companiond service install"
  step "is up" up
  step "is the user's" bash -c "nsenter -t $pid -a ps -o user= -C companiond | grep -q maker"
  step "reloads" own "systemctl --user reload companiond && companiond status"
  step "and is removed" own "companiond service remove"
  step "and is gone" bash -c "! nsenter -t $pid -a pgrep -x companiond"
else
  echo "skipped: a user's service, for sessions cannot be had in this root"
fi
inside systemctl poweroff 2>/dev/null || true
[ $fails = 0 ]
