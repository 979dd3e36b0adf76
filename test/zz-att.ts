import { readFileSync } from 'node:fs';
import { runInProcess } from './helpers/cli.ts';
for (const line of readFileSync('/tmp/s44-att/cases.tsv', 'utf8').trim().split('\n')) {
  const [name = '', args = ''] = line.split('\t');
  const t = performance.now(); const c = process.cpuUsage();
  let r; try { r = await Promise.race([runInProcess(args.split(' '), { home: '/tmp/s44-att/lhome', cwd: `/tmp/s44-att/lint/${name}` }), new Promise((_, j) => setTimeout(() => j(new Error('TIMEOUT')), 60000))]) as any; } catch (e) { console.log(name, 'THROWN', String(e).slice(0, 200)); continue; }
  const out = r.stdout + r.stderr; const u = process.cpuUsage(c);
  console.log(name, 'rc', r.code, 'size', out.length, 'cpu', ((u.user + u.system) / 1e6).toFixed(1), 'leak', /hunter2|SECRETLINE/.test(out), 'ctl', /[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029]/.test(out), 'cmd', /^::(?!error|warning|notice)/m.test(out), out.split('\n').find((l: string) => /error/.test(l))?.slice(0, 160));
}
process.exit(0);
