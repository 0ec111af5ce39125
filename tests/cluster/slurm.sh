#!/usr/bin/env bash
# A SLURM cluster of this one machine, with pretend GPUs, for tests: Debian's packages, nothing outside one folder.
#
#   slurm.sh start FOLDER    installs what is missing, and starts it; configuration, state and logs go to FOLDER
#   slurm.sh stop FOLDER     ends it, and every process of its jobs
#
# A machine has one such cluster at a time. The process that calls `start` owns it. A second start waits until the owner has
# stopped the cluster. If the owner was killed, the second start stops it, and goes on.
#
# Needs root, because packages are installed and slurmd wants it. Everything listens on the loopback interface alone. Of the
# machine's own files only the link /run/slurm/conf is set, where SLURM looks by itself: Snakemake's executor hands no
# variable of SLURM's on to its jobs.
set -euo pipefail

gpus=4
name=rubric_order_test
action=${1:?start or stop}
folder=${2:?a folder for configuration, state and logs}
link=/run/slurm/conf
unset "${!SLURM_@}"

# A daemon of the cluster in folder $1. Numbers of processes are used again, so its arguments are looked at too.
is_running() { [ -s "$1/$2.pid" ] && grep -qzF "$1/" "/proc/$(cat "$1/$2.pid")/cmdline" 2> /dev/null; }
# A process that has not ended: its number, and the time of its start.
process() { sed "s/.*) //" "/proc/$1/stat" 2> /dev/null | awk -v number="$1" '$1 != "Z" { print number, $20 }' || true; }
# The test run that called this script still runs: without it, nobody would stop the cluster.
is_wanted() { [ "$(process "$PPID")" = "$(cat "$folder/owner")" ]; }

stop() {
  local folder=$1
  if is_running "$folder" slurmctld; then timeout 20 scancel --user "$(id -un)" || true; fi
  # Without cgroups, SLURM does not find every process of a job that it cancels. Of another cluster, jobs are left alone.
  for process in /proc/[0-9]*; do
    [ "$(readlink "$link")" = "$folder" ] || break
    if grep -qzxF "SLURM_CLUSTER_NAME=$name" "$process/environ" 2> /dev/null; then
      kill -KILL "${process#/proc/}" 2> /dev/null || true
    fi
  done
  for daemon in slurmd slurmctld munged; do
    if is_running "$folder" $daemon; then kill "$(cat "$folder/$daemon.pid")" || true; fi
    for _ in $(seq 50); do is_running "$folder" $daemon || break; sleep 0.2; done
  done
  # Daemons that do not end, and those whose folder somebody has removed.
  for process in /proc/[0-9]*; do
    if grep -qzF "$folder/" "$process/cmdline" 2> /dev/null; then kill -KILL "${process#/proc/}" 2> /dev/null || true; fi
  done
  if [ "$(readlink "$link")" = "$folder" ]; then rm "$link"; fi
}

fail() {
  echo "error: SLURM did not come up; the ends of its logs:" >&2
  tail -n 20 "$folder"/logs/*.log >&2 || true
  stop "$folder"
  exit 1
}

if [ "$(id -u)" != 0 ]; then
  echo "error: a test cluster needs root, to install SLURM and to start it; run as root, or with sudo" >&2
  exit 1
fi
if [ "$action" = stop ]; then
  stop "$folder"
  exit
fi

if [ -e "$link" ] && ! [ -s "$link/owner" ] && ! grep -qsx "ClusterName=$name" "$link/slurm.conf"; then foreign=$link; fi
if [ -e /etc/slurm/slurm.conf ]; then foreign=/etc/slurm/slurm.conf; fi
if [ -n "${foreign:-}" ]; then
  echo "error: this machine belongs to a SLURM cluster already ($foreign is there); run this test on another one" >&2
  exit 1
fi
mkdir -p "$folder"/{state,spool,logs} "$(dirname "$link")"
chmod 755 "$folder"
if [ "$(readlink "$link")" = "$folder" ]; then stop "$folder"; fi
process $PPID > "$folder/owner"
until ln -sT "$folder" "$link" 2> /dev/null; do
  is_wanted || exit 1
  first=$(readlink "$link" || true)
  owner=$(cat "$first/owner" 2> /dev/null || true)
  if [ -n "$owner" ] && [ "$owner" = "$(process "${owner% *}")" ]; then
    sleep 1
    continue
  fi
  # Two that wait may both see that the owner is gone: the second to come looks again.
  (
    flock 9
    if [ "$(readlink "$link")" = "$first" ] && [ -n "$first" ]; then
      echo "note: the cluster in $first was left by a test run that was killed; it is stopped" >&2
      stop "$first"
    fi
  ) 9> "$link.lock"
done
trap fail ERR
if ! { command -v slurmctld && command -v slurmd && command -v sbatch && command -v munged; } > /dev/null; then
  command -v apt-get > /dev/null || { echo "error: no SLURM here, and no apt-get to install it with" >&2; exit 1; }
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends slurmctld slurmd slurm-client munge > /dev/null
fi

host=$(hostname -s)

[ -s "$folder/munge.key" ] || (umask 077 && head -c 128 /dev/urandom > "$folder/munge.key")
if ! is_wanted; then
  stop "$folder"
  exit 1
fi
munged --force --key-file "$folder/munge.key" --socket "$folder/munge.socket" --pid-file "$folder/munged.pid" \
  --seed-file "$folder/munge.seed" --log-file "$folder/logs/munged.log"

# The devices are there in every Linux: a slot must be a real device, or jobs are not told which one they have.
echo "NodeName=$host Name=gpu File=/dev/null,/dev/zero,/dev/full,/dev/random" > "$folder/gres.conf"
echo "CgroupPlugin=cgroup/v1" > "$folder/cgroup.conf"
cat > "$folder/slurm.conf" << CONF
ClusterName=$name
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=26817
SlurmdPort=26818
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
# No control groups, so that it runs in containers and small virtual machines.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
# No accounting database.
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=2,sched_interval=2,batch_sched_delay=0
# Finished jobs stay visible to squeue.
MinJobAge=3600
ReturnToService=2
MpiDefault=none
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/logs/slurmctld.log
SlurmdLogFile=$folder/logs/slurmd.log
SlurmctldTimeout=30
SlurmdTimeout=60
InactiveLimit=0
KillWait=5
# Jobs wait for GPUs, not for cores: as many are declared as the tests use, however few there are.
SlurmdParameters=config_overrides
GresTypes=gpu
NodeName=$host NodeAddr=127.0.0.1 CPUs=16 RealMemory=200000 Gres=gpu:$gpus State=UNKNOWN
PartitionName=main Nodes=$host Default=YES MaxTime=INFINITE DefMemPerCPU=256 State=UP
CONF

slurmctld -c -f "$folder/slurm.conf"
slurmd -f "$folder/slurm.conf"
for _ in $(seq 60); do
  case "$(sinfo --noheader --format %T 2> /dev/null || true)" in idle* | mixed*) exit 0 ;; esac
  sleep 0.5
done
fail
