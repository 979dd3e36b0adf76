/** Rules for outputs and approvals. */

import { contentOf } from '../../../../base/names.ts';
import { targetNamed } from '../../../../compiler/config/route-keys.ts';
import { rule } from '../../../../compiler/rules/support/rule.ts';
import { didYouMean, oneOf } from '../../../../compiler/text/suggest.ts';
import type { JobView, Reporter, RouteView, Views } from '../../../../compiler/views/views.ts';
import type { ContentField, JobPlan, OutputConfig } from '../../../../schemas/generated/types.ts';
import { buttonTargets } from '../callbacks.ts';

/** A direct delivery with `approve`: its sender would wait for a person. */
export const approvalDirect = rule('approval-direct', {
  route({ mode, config }, report) {
    if (mode !== 'direct' || config.approve !== true) return;
    const message =
      '`approve` does not work with `deliver_only`: the sender waits for the result, and approval takes longer';
    const hint =
      'replace `deliver_only: true` with `agent: none`: the message is stored, and the sender gets its response at once';
    report({ path: ['approve'], at: 'key', message, hint });
  },
});

/** A message with `approve`, but without `gateway.approvals`. */
export const approvalUnheard = rule('approval-unheard', { route: check, job: check });

function check(view: RouteView | JobView, report: Reporter): void {
  if (view.scope.table.gateway.approvals !== undefined) return;
  for (const path of approvedPaths(view)) {
    const message = 'no one is notified that the message needs approval, and it expires after a day';
    const hint = 'set where approval requests are sent: `gateway.approvals: { deliver: … }`';
    report({ path, at: 'key', message, hint });
  }
}

/** A console that any program on this machine can use to approve a message. */
export const approvalOpen = rule('approval-open', { route: checkConsole, job: checkConsole });

function checkConsole(view: RouteView | JobView, report: Reporter): void {
  const { console } = view.scope.table.gateway;
  if (console === null || console.token !== null || console.users !== undefined) return;
  for (const path of approvedPaths(view)) {
    const message =
      'without a token of the console, any program on this machine, the agent too, can approve the message';
    report({ path, at: 'key', message, hint: 'set `gateway.console.token: env:CONSOLE_TOKEN`' });
  }
}

/** An agent that has the access of the gateway, and so of the person who approves: its own messages, and if strangers may instruct it, all. */
export const approvalUnconfined = rule('approval-unconfined', {
  agent({ agent: { name: agentName, path, config: agent }, ...view }, report) {
    if (agent.command === undefined || agent.confined !== undefined || agent.sandbox !== undefined) return;
    if (view.scope.table.gateway.sandbox !== null) return;
    const asking = askingOf(view, agentName);
    if (asking === undefined) return;
    const message = `approval of the messages of ${asking} does not stop an agent that means harm: without a sandbox, it can use the control socket and the console's token like its operator`;
    const hint = 'add a `sandbox`, or state what limits the program: `confined: <a container, another user>`';
    report({ path: [...path, 'command'], at: 'value', message, hint });
  },
});

/** Approval requests to a chat that supports buttons, without buttons. */
export const approvalButtons = rule('approval-buttons', {
  config({ scope }, report) {
    for (const { label, buttons } of buttonTargets(scope.table)) {
      const message = `approval requests to \`${label}\` have no buttons: ${String(buttons)}`;
      if (typeof buttons === 'string') report({ path: ['gateway', 'approvals', 'deliver'], at: 'value', message });
    }
  },
});

/** Buttons that everyone in the chat may press. */
export const approvalAnyone = rule('approval-anyone', {
  config({ scope: { table } }, report) {
    const labels = buttonTargets(table).flatMap(({ label, buttons }) => (typeof buttons === 'string' ? [] : label));
    if (labels.length === 0 || table.gateway.approvals?.allow !== undefined) return;
    const message = `approval requests to ${oneOf(labels, 'and')} have buttons, and everyone in the chat can approve`;
    const hint = 'list the ids of those who may answer: `allow: [U024BE7LH]`';
    report({ path: ['gateway', 'approvals'], at: 'key', message, hint });
  },
});

/** The first route or job whose messages the agent must not approve. */
function askingOf({ name, scope, ...view }: Omit<Views['agent'], 'agent'>, agent: string | null): string | undefined {
  const own = [...view.routes()];
  const readsStrangers = own.some((route) => scope.payloads?.readsStrangers(route) === true);
  const routes = readsStrangers ? view.allRoutes() : own.filter(({ mode }) => mode === 'agent');
  const jobs = Object.values(scope.table.jobs).filter((job) => readsStrangers || isRunBy(job, name, agent));
  const route = [...routes].find((each) => approvedPaths(each).length > 0);
  const job = jobs.find(({ deliver, outputs = [] }) =>
    [...deliver, ...outputs.map(({ delivery }) => delivery)].some(({ approve_ms }) => approve_ms !== undefined),
  );
  return route === undefined ? job && `job \`${job.name}\`` : `route \`${route.name}\``;
}

const isRunBy = (job: JobPlan, profile: string, agent: string | null): boolean =>
  job.profile === profile && job.agent === agent;

/** The keys of a route or job that require approval. */
function approvedPaths({ config, ...view }: RouteView | JobView): readonly (readonly string[])[] {
  if ('mode' in view && view.mode === 'cron') return [];
  const outputs = Object.entries(config.outputs ?? {}).filter(([, { approve }]) => approve === true);
  return [...(config.approve === true ? [['approve']] : []), ...outputs.map(([name]) => ['outputs', name, 'approve'])];
}

/** `allow` names an unknown field, or a value that its target does not accept. */
export const outputField = rule('output-field', { route: checkAllowed, job: checkAllowed });

function checkAllowed(view: RouteView | JobView, report: Reporter): void {
  if (view.config.outputs?.noop !== undefined)
    report({ path: ['outputs', 'noop'], at: 'key', message: '`noop` is the built-in output: choose another name' });
  for (const { name, config, fields } of outputsOf(view)) {
    const names = fields.map((field) => field.name);
    for (const [key, values] of Object.entries(config.allow ?? {})) {
      const path = ['outputs', name, 'allow', key];
      const field = fields.find((each) => each.name === key);
      if (field === undefined) {
        const message = `\`${config.deliver}\` has no field \`${key}\` for agents${didYouMean(key, names)}`;
        report({ path, at: 'key', message, hint: `its fields: ${oneOf(names, 'and')}` });
      } else if (field.kind === 'objects') {
        report({ path, at: 'key', message: `\`allow\` does not support \`${key}\`, which is a list of objects` });
      }
      const number = values.findIndex((value) => typeof value !== 'string');
      if (number >= 0) {
        const message = `\`${key}\` contains strings, but ${JSON.stringify(values[number])} is not a string`;
        report({ path: [...path, number], at: 'value', message, fix: { kind: 'quote' } });
      }
      const unknown = values.findIndex((value) => field?.values?.includes(String(value)) === false);
      if (unknown < 0) continue;
      const message = `\`${config.deliver}\` does not accept \`${key}\` ${JSON.stringify(values[unknown])}`;
      const hint = `it accepts ${oneOf(field?.values ?? [], 'and')}`;
      report({ path: [...path, unknown], at: 'value', message, hint });
    }
  }
}

/** Most messages of free text in one run. */
const MOST = 5;

/** True for a list, such as labels, whose values neither the target nor the route limits. */
const isOpen = ({ name, kind, values }: ContentField, { allow, ...config }: OutputConfig): boolean =>
  kind === 'list' && values === undefined && allow?.[name] === undefined && !Object.hasOwn(config, name);

/** An unlimited output of an agent that reads text of strangers. */
export const unboundedOutput = rule('unbounded-output', {
  route(route, report) {
    if (route.config.outputs === undefined || route.scope.payloads?.readsStrangers(route) !== true) return;
    for (const { name, config, fields } of outputsOf(route)) {
      const { allow, max = 1, approve } = config;
      const open = fields.find((field) => isOpen(field, config));
      if (open !== undefined && approve !== true) {
        const message = `a stranger who manipulates the agent can set any \`${open.name}\` with \`${config.deliver}\``;
        const hint = `list the allowed values, \`allow: { ${open.name}: […] }\`, or require approval: \`approve: true\``;
        report({ path: ['outputs', name, 'deliver'], at: 'value', message, hint });
      }
      if (max <= MOST || allow !== undefined || approve === true) continue;
      const message = `a stranger who manipulates the agent can post ${max} messages of any text to \`${config.deliver}\``;
      const hint = `lower \`max\` to ${MOST} or less, list the allowed values (\`allow\`), or require approval: \`approve: true\``;
      report({ path: ['outputs', name, 'max'], at: 'value', message, hint });
    }
  },
});

/** An output of a route or job whose target exists, with the fields of that target. */
export interface KnownOutput {
  readonly name: string;
  readonly config: OutputConfig;
  readonly fields: readonly ContentField[];
}

export function outputsOf({ config, scope }: Pick<RouteView | JobView, 'config' | 'scope'>): readonly KnownOutput[] {
  const { targets, target_names } = scope.table;
  return Object.entries(config.outputs ?? {}).flatMap(([name, output]): KnownOutput[] => {
    const plan = targets[targetNamed(target_names, output.deliver) ?? ''];
    return plan === undefined
      ? []
      : [{ name, config: output, fields: contentOf<ContentField>(plan) as ContentField[] }];
  });
}
