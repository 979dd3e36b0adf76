/** `hookwright deliver`: sends one message through a target as a route would. */

import { text as readAll } from 'node:stream/consumers';
import { entryLabel } from '../../../base/text.ts';
import type { CliContext } from '../../../cli/base/context.ts';
import { CliError, findTarget, UsageError } from '../../../cli/base/errors.ts';
import { runtimeParts } from '../../../cli/base/module.ts';
import type { ValuesOf } from '../../../cli/command-line/command.ts';
import { argument, command, flag, list, text, withDefault } from '../../../cli/command-line/command.ts';
import { configOption } from '../../../cli/command-line/options.ts';
import { printJson, printLine, visible } from '../../../cli/output/print.ts';
import { createServerLog } from '../../../cli/serve/server-log.ts';
import { openTable } from '../../../cli/subscriptions/routes.ts';
import { present } from '../../../compiler/text/plain-data.ts';
import { createDeliverer } from '../../../runtime/deliver/create-deliverer.ts';
import type {
  DeliveryContext,
  DeliveryOutcome,
  DeliveryRequest,
  ShownDelivery,
} from '../../../runtime/deliver/deliverer.ts';
import { createDeliveryContext } from '../../../runtime/deliver/delivery-context.ts';
import { DeliveryRefusal } from '../../../runtime/deliver/http/values.ts';
import type { LinkedTargets } from '../../../runtime/deliver/link-targets.ts';
import { linkTargets, loadDrivers } from '../../../runtime/deliver/link-targets.ts';
import { FIRST_ATTEMPT } from '../../../runtime/dispatch/own-message.ts';
import { runProcess } from '../../../runtime/platform/process/run-process.ts';
import type { SecretResolver } from '../../../runtime/platform/secrets.ts';
import { createSecrets } from '../../../runtime/platform/secrets.ts';
import type { RouteTable } from '../../../schemas/generated/types.ts';
import { lenient } from '../runtime/explain/explain-services.ts';

const options = {
  text: text('text', 'The message; - reads it from stdin'),
  chatId: text('id', 'Chat ID (default: the home channel)'),
  thread: text('id', 'Thread in the chat'),
  extra: list('key=value', 'Another key of deliver_extra; repeatable'),
  profile: withDefault('default', text('profile', 'Profile whose credentials are used')),
  dryRun: flag('Print the request without secrets; send nothing'),
  json: flag('Print the outcome as JSON; with --dry-run the requests'),
  config: configOption,
};
const args = { target: argument('target') };

type Input = ValuesOf<typeof options> & ValuesOf<typeof args>;

export const deliverCommand = command({
  options,
  args,
  async run(context, given) {
    const text = await message(context, given);
    const { table } = await openTable(context, given.config);
    const choice = { table, target: given.target, profile: given.profile };
    const delivery = createDeliveryContext({
      home: context.home,
      env: context.env,
      clock: context.clock,
      log: createServerLog(context),
      run: (request) => runProcess(request, context),
      modules: runtimeParts(context.modules),
    });
    try {
      const secrets = createSecrets(context);
      const linked = await linkOne(choice, given.dryRun ? lenient(secrets) : secrets, delivery.context);
      const deliverer = createDeliverer({ linked, context: delivery.context, mirror: async () => {} });
      const message = request(context, given, text, choice);
      return given.dryRun
        ? show(context, given, await deliverer.show(message))
        : report(context, given, await deliverer.deliver(message));
    } catch (error) {
      throw error instanceof DeliveryRefusal ? new CliError(`${given.target}: ${error.message}`) : error;
    } finally {
      await delivery.close();
    }
  },
});

function show(context: CliContext, given: Input, shown: readonly ShownDelivery[]): number {
  if (given.json) printJson(context, shown);
  else
    for (const [index, one] of shown.entries()) {
      if (index > 0) printLine(context, '---');
      for (const line of linesOf(one)) printLine(context, visible(line));
    }
  return 0;
}

function report(context: CliContext, given: Input, outcome: DeliveryOutcome): number {
  if (given.json) printJson(context, { target: given.target, ...outcome });
  else if (outcome.kind === 'ok') {
    const { message_id: id } = outcome;
    printLine(context, `delivered to ${given.target}${id === null ? '' : ` (message ${id})`}`);
  } else {
    const wait = outcome.retry_after_ms;
    const hint = wait === null ? [] : [`try again in ${Math.ceil(wait / 1000)} s`];
    throw new CliError(`${given.target}: ${outcome.kind}: ${outcome.reason}`, ...hint);
  }
  return outcome.kind === 'ok' ? 0 : 1;
}

function request(context: CliContext, given: Input, text: string, choice: TargetChoice): DeliveryRequest {
  return {
    key: context.random(16).toString('hex'),
    profile: given.profile,
    route: 'deliver',
    delivery_id: 'command-line',
    target: chooseTarget(choice),
    extra: address(given),
    unresolved: [],
    text,
    ...FIRST_ATTEMPT,
    signal: untilInterrupted(context),
  };
}

function address(given: Input): Record<string, string> {
  const extra = (given.extra ?? []).map((pair) => {
    const at = pair.indexOf('=');
    if (at < 1) throw new UsageError(`invalid --extra "${pair}": key=value is expected`);
    return [pair.slice(0, at), pair.slice(at + 1)] as const;
  });
  return { ...Object.fromEntries(extra), ...present({ chat_id: given.chatId, message_thread_id: given.thread }) };
}

async function message(context: CliContext, given: Input): Promise<string> {
  if (given.text === undefined) throw new UsageError('deliver needs a message', '--text "…", or --text - for stdin');
  return given.text === '-' ? readAll(context.stdin) : given.text;
}

function untilInterrupted(context: CliContext): AbortSignal {
  const giveUp = new AbortController();
  context.onSignal(() => giveUp.abort());
  return giveUp.signal;
}

function linesOf(shown: ShownDelivery): readonly string[] {
  switch (shown.kind) {
    case 'http':
      return [`${shown.method} ${shown.url}`, ...headers(shown.headers), ...body(shown.body)];
    case 'mail':
      return [...headers(shown.headers), ...body(shown.text)];
    case 'process':
      return [shown.argv.join(' '), ...body(shown.stdin)];
    case 'text':
      return shown.text.split('\n');
  }
}

function headers(values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).map(([name, value]) => `${name}: ${value}`);
}

function body(text: string | null): string[] {
  return text === null ? [] : ['', ...text.split('\n')];
}

/** A single target of a profile. Only this target is linked, so invalid settings of others do not prevent a message. */
export interface TargetChoice {
  readonly table: RouteTable;
  /** Any of the target's names. */
  readonly target: string;
  readonly profile: string;
}

/** Returns the target's canonical name. @throws CliError when there is no such target or profile, or it is switched off. */
export function chooseTarget({ table, target, profile }: TargetChoice): string {
  const name = findTarget(table.target_names, target);
  const plan = Object.hasOwn(table.profiles, profile) ? table.profiles[profile] : undefined;
  if (plan === undefined) throw new CliError(`unknown profile "${profile}"`);
  if (!Object.hasOwn(plan.targets, name)) {
    const setUp = entryLabel(plan, table.targets[name]?.platform ?? name);
    const where = profile === 'default' ? '' : ` in the config of the profile ${profile}`;
    throw new CliError(
      `${target} is not enabled`,
      `set platforms.${setUp}.enabled: true${where}, with its credentials`,
    );
  }
  return name;
}

/** @throws CliError that names the invalid setting */
export async function linkOne(
  choice: TargetChoice,
  secrets: SecretResolver,
  context: DeliveryContext,
): Promise<LinkedTargets> {
  const name = chooseTarget(choice);
  const { targets, profiles } = choice.table;
  const plan = targets[name];
  const profile = profiles[choice.profile];
  if (plan === undefined || profile === undefined) throw new Error(`the table names ${name} but does not contain it`);
  const tables = { targets: { [name]: plan }, profiles: { [choice.profile]: profile } };
  const { linked, problems } = linkTargets(tables, secrets, context, await loadDrivers(tables, context));
  const [problem] = problems;
  if (problem !== undefined) throw new CliError(`${choice.target}: ${problem.message}`);
  return linked;
}
