/** `hookwright source enroll`: waits for the secret that a sender sends when its webhook is created. */
import { existsSync } from 'node:fs';
import type { CliContext } from '../../../cli/base/context.ts';
import { CliError, UsageError } from '../../../cli/base/errors.ts';
import { argument, command, flag, parsed } from '../../../cli/command-line/command.ts';
import { configOption } from '../../../cli/command-line/options.ts';
import { callGateway } from '../../../cli/gateway/ask-gateway.ts';
import { printJson, printLine, printNote } from '../../../cli/output/print.ts';
import type { OpenTable } from '../../../cli/subscriptions/routes.ts';
import { findRoute, openTable, routePath } from '../../../cli/subscriptions/routes.ts';
import { userHome } from '../../../runtime/platform/secrets.ts';
import { capturedFile, storeCaptured } from '../../../runtime/verify/handshake.ts';
import type { RoutePlan, RouteTable } from '../../../schemas/generated/types.ts';

const DEFAULT_SECONDS = 900;

function parseTimeout(text: string): number {
  const seconds = Number(text);
  if (Number.isFinite(seconds) && seconds > 0) return seconds;
  throw new UsageError(`invalid --timeout "${text}": a number of seconds is expected`);
}

export const sourceEnrollCommand = command({
  options: {
    timeout: parsed(`seconds`, `Maximum time to wait (default ${DEFAULT_SECONDS})`, parseTimeout),
    config: configOption,
    json: flag('Print the file as JSON'),
  },
  args: { route: argument('route') },
  async run(context, given) {
    const { timeout: seconds = DEFAULT_SECONDS } = given;
    const open = await openTable(context, given.config);
    const { plan } = findRoute(context, given.route, open);
    requireCapture(plan, open.table);
    await prepare(context, plan, open);
    const url = plan.public_url ?? `${open.url ?? ''}${routePath(plan)}`;
    printNote(context, `waiting for ${plan.source}: create the webhook there with the URL ${url}`);
    const file = await wait(context, plan, seconds * 1000);
    if (given.json) printJson(context, { route: plan.name, file });
    else printLine(context, file);
    printNote(context, 'the secret is stored and in use');
  },
});

/** Creates the secret's file, because a gateway does not start without it. */
async function prepare(context: CliContext, plan: RoutePlan, { url }: OpenTable): Promise<void> {
  const folders = { home: context.home, userHome: userHome(context.env) };
  const path = capturedFile(folders, plan);
  if (path === null) {
    throw new CliError(
      `the secret of route "${plan.name}" is not in a file`,
      `set it in the route: secret: file:secrets/${plan.name}`,
    );
  }
  if (existsSync(path)) return;
  storeCaptured(folders, plan, context.random(32).toString('hex'));
  printNote(context, `created ${path} with a random value, which the secret replaces when it arrives`);
  if (url !== null) await callGateway(context, 'reload', {});
}

async function wait(context: CliContext, plan: RoutePlan, timeoutMs: number): Promise<string> {
  const { clock } = context;
  const end = clock.monotonic() + timeoutMs;
  while (clock.monotonic() < end) {
    const report = await callGateway(context, 'enroll', { profile: plan.profile, route: plan.name });
    if (report.kind === 'stored' && report.file !== null) return report.file;
    if (report.kind === 'failed') throw new CliError(`the secret arrived but could not be stored: ${report.reason}`);
  }
  throw new CliError(`no secret arrived within ${timeoutMs / 1000} s`, 'nothing was changed; run it again');
}

/** @throws CliError if the sender does not send its secret */
function requireCapture(plan: RoutePlan, { schemes }: RouteTable): void {
  const captures = (name: string): boolean => schemes[name]?.challenges.some(({ kind }) => kind === 'capture') ?? false;
  if (plan.source !== null && captures(plan.source)) return;
  const known = Object.keys(schemes).filter(captures).sort().join(', ');
  const what = plan.source === null ? `route "${plan.name}" has no source` : `${plan.source} sends no secret`;
  throw new CliError(`${what}: there is no secret to wait for`, `these senders send their secret: ${known}`);
}
