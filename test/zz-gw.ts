import { startInProcess } from './helpers/cli.ts';
const r = startInProcess(['gateway', 'run'], { home: '/tmp/s44-att/ghome', cwd: '/tmp/s44-att/gw' });
const t = setInterval(() => { if (/"url"/.test(r.stderr())) { console.log('UP'); clearInterval(t); } }, 200);
process.on('SIGTERM', () => { r.signal('SIGTERM'); });
void r.done.then((d) => { console.log(d.stderr.slice(-3000)); process.exit(); });
setInterval(() => {}, 1000);
