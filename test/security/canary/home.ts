/** A home whose configuration contains a secret of every kind, and two programs that report everything they can see. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { canary } from './canaries.ts';

/** The environment of the gateway. */
export const ENVIRONMENT: Readonly<Record<string, string>> = {
  WEBHOOK_SECRET: canary('global-env'),
  ROUTE_SECRET: canary('route-env'),
  ROTATION_NEW: canary('rotation-new'),
  ROTATION_OLD: canary('rotation-old'),
  VERIFY_TOKEN: canary('verify-token'),
  TARGET_TOKEN: `123:${canary('target-token')}`,
  TARGET_EXCHANGE: canary('target-exchange'),
  SUBSCRIPTION_SECRET: canary('subscription-env'),
  WORK_SECRET: canary('profile-route'),
  CLOUD_ACCESS_KEY: canary('unreferenced-env'),
};

/** Routes that the tour sends an event to, each with another secret or target. */
export const ROUTES = [
  'global',
  'env',
  'dotenv',
  'file',
  'literal',
  'rotating',
  'chat',
  'hook',
  'mail',
  'token',
] as const;

const config = (upstream: string, agent: readonly string[]): string => `
platforms:
  webhook:
    enabled: true
    port: 0
    secret: env:WEBHOOK_SECRET
    routes:
      global: { prompt: "{text}" }
      env: { secret: env:ROUTE_SECRET, prompt: "{text}", script: look.sh }
      dotenv: { secret: env:DOTENV_SECRET, prompt: "fail {text}" }
      file: { secret: file:secrets/route, prompt: "{text}", coalesce: { key: "{text}", window_seconds: 1 } }
      literal: { secret: ${canary('route-literal')}, prompt: "{text}" }
      rotating: { secrets: [env:ROTATION_NEW, { value: env:ROTATION_OLD, expires_at: "2099-01-01T00:00:00Z" }], prompt: "{text}" }
      meta: { source: meta, verify_token: env:VERIFY_TOKEN, prompt: "{text}" }
      chat: { prompt: "{text}", deliver: telegram, deliver_only: true }
      hook: { prompt: "{text}", deliver: slack, deliver_only: true }
      mail: { prompt: "{text}", deliver: email, deliver_only: true }
      token: { prompt: "{text}", deliver: dingtalk, deliver_only: true }
      work: { profile: work, secret: env:WORK_SECRET, prompt: "{text}", deliver: telegram }
  telegram: { enabled: true, token: env:TARGET_TOKEN, home_channel: "-1", api_base: "${upstream}" }
  slack: { enabled: true, webhook_url: "${upstream}/hooks/${canary('target-url')}" }
  email: { enabled: true, smtp_host: 127.0.0.1, smtp_port: 1, smtp_user: u, smtp_pass: file:secrets/mail, from: a@example.test, home_channel: b@example.test }
  dingtalk: { enabled: true, app_key: dingq8x2m7k4v9, app_secret: env:TARGET_EXCHANGE, robot_code: r, home_channel: "group:x", api_base: "${upstream}" }
agent: { command: ${JSON.stringify(agent)} }
gateway: { multiplex_profiles: true, max_attempts: 2 }
jobs: { report: { schedule: "0 8 * * *", prompt: Report., deliver: telegram } }
`;

const profileConfig = (upstream: string): string => `
platforms: { telegram: { enabled: true, token: env:WORK_TOKEN, home_channel: "-2", api_base: "${upstream}" } }
agent: { openai: { base_url: "${upstream}/v1", model: m, api_key: env:AGENT_KEY } }
`;

/** Records environment, parent and folder; fails on a prompt that asks for it, with a secret as its last words. */
const PROGRAM = `out=$1
{
  echo "== environment"; env
  echo "== parent"; tr '\\\\0' '\\\\n' < /proc/$PPID/environ; tr '\\\\0' ' ' < /proc/$PPID/cmdline
  echo "== folder"; pwd; ls -a; cat .env ./*
} > "$out" 2>&1
case "$(cat)" in *fail*) sed -n 1p "$HOOKWRIGHT_HOME/.env" >&2; exit 3;; esac
echo fine
`;

export interface CanaryHome {
  readonly home: string;
  /** Records of the agent and the script. */
  readonly agentSaw: string;
  readonly scriptSaw: string;
}

export function makeHome(folder: string, upstream: string): CanaryHome {
  const home = join(folder, 'home');
  const [agentSaw, scriptSaw] = [join(folder, 'agent.txt'), join(folder, 'script.txt')];
  const write = (path: string, text: string, mode = 0o600): void => {
    mkdirSync(join(path, '..'), { recursive: true, mode: 0o700 });
    writeFileSync(path, text, { mode });
  };
  const agent = join(folder, 'agent.sh');
  write(agent, PROGRAM);
  write(
    join(home, 'scripts/look.sh'),
    `set -- '${scriptSaw}'\n${PROGRAM.replace('echo fine', 'cat /dev/null; echo seen')}`,
  );
  chmodSync(join(home, 'scripts/look.sh'), 0o700);
  write(join(home, 'config.yaml'), config(upstream, ['sh', agent, agentSaw]));
  write(join(home, '.env'), `DOTENV_SECRET=${canary('route-dotenv')}\nOTHER=${canary('unreferenced-dotenv')}\n`);
  write(join(home, 'secrets/route'), `${canary('route-file')}\n`);
  write(join(home, 'secrets/mail'), `${canary('target-password')}\n`);
  const dynamic = {
    dynamic: { secret: canary('subscription-literal'), prompt: '{text}' },
    pointed: { secret: 'env:SUBSCRIPTION_SECRET', prompt: '{text}' },
  };
  write(join(home, 'webhook_subscriptions.json'), JSON.stringify(dynamic));
  write(join(home, 'profiles/work/config.yaml'), profileConfig(upstream));
  const variables = { WORK_TOKEN: 'profile-token', AGENT_KEY: 'agent-key' } as const;
  write(
    join(home, 'profiles/work/.env'),
    Object.entries(variables)
      .map(([name, kind]) => `${name}=${canary(kind)}\n`)
      .join(''),
  );
  return { home, agentSaw, scriptSaw };
}

/** Files in which the operator has put secrets, by their path in the home. */
export const HOLDERS: readonly string[] = [
  'config.yaml',
  '.env',
  'secrets/route',
  'secrets/mail',
  'webhook_subscriptions.json',
  'profiles/work/config.yaml',
  'profiles/work/.env',
];
