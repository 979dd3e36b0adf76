/** `hookwright source enroll`: waits for the secret that a sender sends when its webhook is created. */
import { existsSync } from 'node:fs';
import type { CliContext } from '../../../cli/base/context.ts';
import { CliError, UsageError } from '../../../cli/base/errors.ts';
import { argument, command, flag, parsed } from '../../../cli/command-line/command.ts';
import { configOption } from '../../../cli/command-line/options.ts';
import { callGateway } from '../../../cli/gateway/ask-gateway.ts';
import { printJson, printLine, printNote, visible } from '../../../cli/output/print.ts';
import { canPrompt, createPrompter } from '../../../cli/output/prompter.ts';
import type { OpenTable } from '../../../cli/subscriptions/routes.ts';
import { findRoute, openTable, publicRouteUrl } from '../../../cli/subscriptions/routes.ts';
import { userHome } from '../../../runtime/platform/secrets.ts';
import { capturedFile, storeCaptured } from '../../../runtime/verify/handshake.ts';
import type { ControlContract, EnrollReport } from '../../../schemas/built/operations/types.ts';
import type { RoutePlan, RouteTable } from '../../../schemas/generated/types.ts';

const DEFAULT_SECONDS = 900;

type Enrolment = ControlContract['enroll']['input'];

function parseTimeout(text: string): number {
  const seconds = Number(text);
  if (Number.isFinite(seconds) && seconds > 0) return seconds;
  throw new UsageError(`invalid --timeout "${text}": a number of seconds is expected`);
}

export const sourceEnrollCommand = command({
  options: {
    timeout: parsed(`seconds`, `Maximum time to wait (default ${DEFAULT_SECONDS})`, parseTimeout),
    config: configOption,
    yes: flag('Do not ask: accept the secret that arrives'),
    json: flag('Print the file as JSON'),
  },
  args: { route: argument('route') },
  async run(context, given) {
    const { timeout: seconds = DEFAULT_SECONDS } = given;
    const open = await openTable(context, given.config);
    const { plan } = findRoute(context, given.route, open);
    requireCapture(plan, open.table);
    if (!given.yes && !canPrompt(context)) {
      throw new CliError(
        'cannot ask for confirmation without a terminal',
        'add --yes to accept the secret that arrives',
      );
    }
    await prepare(context, plan, open);
    const key = context.random(24).toString('base64url');
    const url = `${plan.public_url ?? publicRouteUrl(plan, open)}/${key}`;
    printNote(context, `waiting for ${plan.source}: create the webhook there with the URL ${url}`);
    printNote(context, 'keep the URL secret until this command ends: anyone who knows it can send a secret');
    const enrolment = { profile: plan.profile, route: plan.name, key };
    const fingerprint = await arrival(context, enrolment, seconds * 1000);
    if (!given.yes && !(await createPrompter(context).confirm('Is this the secret of your webhook?', false))) {
      throw new CliError(
        'cancelled; the secret was not stored',
        'delete the webhook at the sender, and run this again',
      );
    }
    const file = fileOf(await callGateway(context, 'enroll', { ...enrolment, confirm: fingerprint }));
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

/** Waits for the secret, and shows who sent it. Returns its fingerprint. */
async function arrival(context: CliContext, enrolment: Enrolment, timeoutMs: number): Promise<string> {
  const { clock } = context;
  const end = clock.monotonic() + timeoutMs;
  while (clock.monotonic() < end) {
    const report = await callGateway(context, 'enroll', enrolment);
    if (report.kind === 'waiting') continue;
    if (report.fingerprint === null || report.kind === 'failed') throw failure(report);
    printNote(context, `a secret arrived from ${visible(report.client ?? '')}, SHA-256 ${report.fingerprint}…`);
    return report.fingerprint;
  }
  throw new CliError(`no secret arrived within ${timeoutMs / 1000} s`, 'nothing was changed; run it again');
}

const failure = ({ reason }: EnrollReport): CliError =>
  new CliError(
    `the secret was not stored: ${reason ?? 'the gateway no longer waits for it'}`,
    'if you created one webhook only, someone else knows the URL: delete the webhook at the sender, and run this again',
  );

function fileOf(report: EnrollReport): string {
  if (report.kind !== 'stored' || report.file === null) throw failure(report);
  return report.file;
}

/** @throws CliError if the sender does not send its secret */
function requireCapture(plan: RoutePlan, { schemes }: RouteTable): void {
  const captures = (name: string): boolean => schemes[name]?.challenges.some(({ kind }) => kind === 'capture') ?? false;
  if (plan.source !== null && captures(plan.source)) return;
  const known = Object.keys(schemes).filter(captures).sort().join(', ');
  const what = plan.source === null ? `route "${plan.name}" has no source` : `${plan.source} sends no secret`;
  throw new CliError(`${what}: there is no secret to wait for`, `these senders send their secret: ${known}`);
}
