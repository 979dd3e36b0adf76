/** Reports secrets of `env` with `only_to` that the sandbox of the agent cannot insert, or that a host can reveal. */
import type { WrittenAgent } from '../../../../compiler/config/agents.ts';
import { writtenAgents } from '../../../../compiler/config/agents.ts';
import { lowerSandbox } from '../../../../compiler/lower/agent.ts';
import { rule } from '../../../../compiler/rules/support/rule.ts';
import type { Reporter } from '../../../../compiler/views/views.ts';
import type { SandboxPlan } from '../../../../schemas/generated/types.ts';

export const guardedSecret = rule('guarded-secret', {
  profile({ config, scope }, report) {
    for (const agent of writtenAgents(config)) checkAgent(agent, scope.table.gateway.sandbox ?? null, report);
  },
});

export const secretInBody = rule('secret-in-body', {
  profile({ config }, report) {
    for (const { path, config: agent } of writtenAgents(config)) {
      for (const [name, entry] of Object.entries(agent.env ?? {})) {
        if (typeof entry === 'string' || entry.in === undefined) continue;
        const message = `the program can have \`${entry.only_to.join('`, `')}\` store or repeat a body with \`${name}\``;
        const hint = 'remove `in` if the service accepts the secret in a header, which `header` names';
        report({ path: [...path, 'env', name, 'in'], at: 'value', message, hint });
      }
    }
  },
});

/** @param gateway the sandbox of agents without their own */
function checkAgent({ path, config }: WrittenAgent, gateway: SandboxPlan | null, report: Reporter): void {
  const { command, env = {}, sandbox: own } = config;
  if (command === undefined) return;
  const sandbox = lowerSandbox(own) ?? gateway;
  for (const [name, entry] of Object.entries(env)) {
    if (typeof entry === 'string') continue;
    checkHosts([...path, 'env', name, 'only_to'], entry.only_to, sandbox, report);
    if (!FRAMING.test(entry.header ?? '')) continue;
    const message = `\`${entry.header}\` is set by the proxy of the sandbox, which puts no secret there`;
    const hint = 'name the header in which the service expects its key, such as `Authorization`';
    report({ path: [...path, 'env', name, 'header'], at: 'value', message, hint });
  }
}

/** Headers that say where and how a request is sent, which the proxy sets itself. */
const FRAMING =
  /^(?:host|content-length|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|range|if-range|accept-encoding|proxy-.*)$/i;

function checkHosts(
  path: WrittenAgent['path'],
  hosts: readonly string[],
  sandbox: SandboxPlan | null,
  report: Reporter,
): void {
  const hint = `write \`sandbox: { network: [${hosts.join(', ')}] }\` and add the other hosts that the program needs`;
  if (sandbox === null || sandbox.network === 'any') {
    const message =
      sandbox === null
        ? '`only_to` requires a `sandbox`: only a sandbox can keep the secret from the program'
        : '`only_to` requires a list of hosts: `network: any` filters nothing';
    report({ path, at: 'key', message, hint });
    return;
  }
  const { network } = sandbox;
  for (const [index, host] of hosts.entries()) {
    if (network.some((pattern) => covers(pattern, host))) continue;
    const message = `the sandbox does not allow \`${host}\`, so the secret could not be sent there`;
    report({ path: [...path, index], at: 'value', message, hint: 'add it to `network`' });
  }
}

/** True if a sandbox with this entry of `network` allows every address that `host` stands for. */
function covers(pattern: string, host: string): boolean {
  const [name, port] = split(pattern);
  const [wanted, wantedPort = '443'] = split(host);
  return (
    (port ?? wantedPort) === wantedPort &&
    (name === wanted || (name.startsWith('*.') && wanted.endsWith(name.slice(1))))
  );
}

function split(host: string): readonly [name: string, port?: string] {
  const [, name = '', port] = /^(.*?)(?::(\d+))?$/.exec(host.toLowerCase()) ?? [];
  return port === undefined ? [name] : [name, port];
}
