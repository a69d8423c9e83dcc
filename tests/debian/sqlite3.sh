# A file, with both kinds of journal, read by another process meanwhile.
sqlite3 file.db 'create table t(a integer primary key, b text); insert into t(b) values("one"),("two"),("three");'
sqlite3 file.db 'pragma journal_mode=wal; begin; update t set b = upper(b); commit; select * from t order by a desc;'
sqlite3 file.db 'pragma journal_mode=delete; create index i on t(b); explain query plan select * from t where b = "x";'
sqlite3 file.db >many <<'SQL'
with recursive n(x) as (select 1 union all select x + 1 from n where x < 5000) insert into t(b) select x * x from n;
select count(*), sum(length(b)), max(a) from t;
begin;
delete from t;
rollback;
select count(*) from t;
vacuum;
pragma integrity_check;
SQL
cat many
for i in 1 2 3 4; do
	sqlite3 -cmd '.timeout 60000' file.db "insert into t(b) values('process');" &
done
wait
sqlite3 file.db 'select count(*) from t where b = "process"; select no_such from t;'
echo "status $?"
