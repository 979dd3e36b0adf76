/** `hookwright source enroll`: waits for the secret that a sender sends when its webhook is created. */
import { existsSync } from 'node:fs';
import { userHome } from '../../../runtime/platform/secrets/machine-secrets.ts';
import { capturedFile, storeCaptured } from '../../../runtime/verify/enrolment.ts';
import type { RoutePlan, RouteTable } from '../../../schemas/generated/types.ts';
import type { CliContext } from '../../base/context.ts';
import { CliError, UsageError } from '../../base/errors.ts';
import type { GivenBy } from '../../command-line/command.ts';
import { argument, command, flag, parsed } from '../../command-line/command.ts';
import { configOption } from '../../command-line/options.ts';
import { askGateway } from '../../gateway/ask-gateway.ts';
import { printJson, printLine, printNote } from '../../output/print.ts';
import { routePath } from '../../subscriptions/address.ts';
import { findRoute } from '../../subscriptions/find-route.ts';
import { openTable } from '../../subscriptions/open-table.ts';

const DEFAULT_SECONDS = 900;

function parseTimeout(text: string): number {
  const seconds = Number(text);
  if (Number.isFinite(seconds) && seconds > 0) return seconds;
  throw new UsageError(`--timeout takes a number of seconds, not "${text}"`);
}

const options = {
  timeout: parsed(`seconds`, `How long to wait; default ${DEFAULT_SECONDS}`, parseTimeout),
  config: configOption,
  json: flag('Print the file as JSON'),
};
const args = { route: argument('route') };

type Given = GivenBy<typeof options> & GivenBy<typeof args>;

export default command({
  summary: 'Wait for the secret a sender sends when its webhook is created',
  details:
    'Some senders make the secret themselves and send it in the first request to the URL. That request is trusted only while this command waits; the secret is stored in the file the route names (`secret: file:…`), readable by its owner alone, and counts at once.',
  examples: [
    ['Then create the webhook at the sender', '$0 source enroll my-notion'],
    ['Wait for an hour', '$0 source enroll my-asana --timeout 3600'],
  ],
  options,
  args,
  async run(context, given) {
    const { timeout: seconds = DEFAULT_SECONDS } = given;
    const { table } = await prepare(context, given);
    const { plan } = findRoute(context, given.route, table);
    printNote(context, `waiting for ${sourceOf(plan)}: create the webhook there, for ${urlOf(plan, table)}`);
    const file = await wait(context, plan, seconds * 1000);
    if (given.json) printJson(context, { route: plan.name, file });
    else printLine(context, file);
    printNote(context, 'the secret is stored and in use');
  },
});

/** Creates the file, because a gateway does not start without it. */
async function prepare(
  context: CliContext,
  given: Given,
): Promise<{ readonly table: Awaited<ReturnType<typeof openTable>> }> {
  const table = await openTable(context, given.config);
  const { plan } = findRoute(context, given.route, table);
  requireCapture(plan, table.table);
  const { home, env } = context;
  const folders = { home, userHome: userHome(env) };
  const path = capturedFile(folders, plan);
  if (path === null) {
    throw new CliError(
      `the secret of route "${plan.name}" is not kept in a file`,
      `write it like this: secret: file:secrets/${plan.name}`,
    );
  }
  if (existsSync(path)) return { table };
  storeCaptured(folders, plan, context.random(32).toString('hex'));
  printNote(context, `${path} is new and holds a random value until the secret arrives`);
  if (table.url !== null) await askGateway(context, 'reload', {});
  return { table };
}

async function wait(context: CliContext, plan: RoutePlan, timeoutMs: number): Promise<string> {
  const { clock } = context;
  const end = clock.monotonic() + timeoutMs;
  while (clock.monotonic() < end) {
    const report = await askGateway(context, 'enroll', { profile: plan.profile, route: plan.name });
    if (report.kind === 'stored' && report.file !== null) return report.file;
    if (report.kind === 'failed') throw new CliError(`the secret arrived and could not be stored: ${report.reason}`);
  }
  throw new CliError(`no secret arrived within ${timeoutMs / 1000} s`, 'nothing was changed; run it again');
}

const sourceOf = (plan: RoutePlan): string => plan.source ?? 'the sender';

function urlOf(plan: RoutePlan, { url }: { readonly url: string | null }): string {
  return plan.public_url ?? `${url ?? ''}${routePath(plan)}`;
}

/** @throws CliError for a sender whose secret comes another way. */
function requireCapture(plan: RoutePlan, { schemes }: RouteTable): void {
  const captures = (name: string): boolean => schemes[name]?.challenges.some(({ kind }) => kind === 'capture') ?? false;
  if (plan.source !== null && captures(plan.source)) return;
  const known = Object.keys(schemes).filter(captures).sort().join(', ');
  const what = plan.source === null ? `route "${plan.name}" has no source` : `${plan.source} sends no secret`;
  throw new CliError(`${what}: there is nothing to wait for`, `these send theirs: ${known}`);
}
