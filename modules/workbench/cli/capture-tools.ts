/** Captured requests for other modules, the console and the gate before a swap. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../../base/errors.ts';
import type { Check } from '../../../cli/base/check.ts';
import { gatewayCheck } from '../../../cli/base/check.ts';
import type { CliContext } from '../../../cli/base/context.ts';
import { CliError } from '../../../cli/base/errors.ts';
import type { CaptureTools, GateContext, ReadCaptured, ServedGateway } from '../../../cli/base/module.ts';
import { refusing } from '../../../cli/serve/reloader.ts';
import { ControlError } from '../../../runtime/control/control-error.ts';
import { printedRequest } from '../../../runtime/intake/keeper.ts';
import type { FailOn, FoundPrinted, KeptRequest, RefusedSwap } from '../../../schemas/built/operations/types.ts';
import type { Explanation, RouteTable } from '../../../schemas/generated/types.ts';
import { RequestFileReader } from '../runtime/capture/request-file.ts';
import { capturePath, lostText } from '../runtime/capture/requests.ts';
import type { RequestChange } from './diff/replay-requests.ts';
import { createSides, hasNamedChange, newest, replayRequests } from './diff/replay-requests.ts';
import { outcomeChange, readTable } from './diff.ts';
import { explainRoute } from './explain/explain-route.ts';
import { bodyOf, requireVerifiedParts } from './explain/read-request.ts';
import { nextStep, printCurl, printTest } from './requests/print-request.ts';
import { testedTable } from './test/load-tests.ts';
import { routeNamed } from './test-event/sign-test-event.ts';
import { findRequest, openCaptured, useRequests } from './use-requests.ts';

/** Maximum number of requests of a route. */
const MOST = 1000;

const read: ReadCaptured<CliContext> = (context, { ids, route }) =>
  useRequests(context, async (requests) => {
    const found: KeptRequest[] = [];
    for (const id of ids) {
      const captured = await findRequest(requests, id);
      bodyOf(captured);
      found.push(captured);
    }
    if (route === null) return found;
    let seen = 0;
    for await (const captured of newest(requests, MOST, { route })) {
      seen++;
      if (captured.body !== null) found.push(captured);
    }
    if (found.length > 0) return found;
    const which = seen === 0 ? 'no request' : `none of ${seen} requests`;
    throw new CliError(
      `${which} of the route "${route}" was captured with its body`,
      'list captured requests: hookwright requests list',
    );
  });

/** Reads the file itself, so it works with and without a running gateway. */
function checkFile({ home }: CliContext): Check | null {
  const file = new RequestFileReader(capturePath(home));
  try {
    const lost = file.lost();
    return lost === null ? null : damaged(`${new Date(lost.at).toISOString()}: ${lostText(lost)}`);
  } catch (error) {
    return damaged(messageOf(error));
  } finally {
    file.close();
  }
}

const damaged = (detail: string): Check =>
  gatewayCheck({
    subject: 'captured requests',
    check: 'undamaged',
    status: 'warning',
    detail,
    fix: 'check the disk; this problem is reported for gateway.capture_days',
  });

/** Gives commands of other modules and the console access to captured requests. */
export const captureTools: CaptureTools<CliContext> = { read, check: checkFile };

/** Number of captured requests that are evaluated before a swap, newest first. */
const GATE_REQUESTS = 1000;
/** Maximum number of requests that the refusal names. */
const NAMED = 10;

/** Compares a new table before it is served. @param folder of the served table; without it nothing is compared @returns null to accept it */
export async function passGate(
  { jobs, ...context }: GateContext<CliContext>,
  failOn: readonly FailOn[],
  folder: string,
  table: RouteTable,
): Promise<RefusedSwap | null> {
  const file = join(folder, 'routes.json');
  if (failOn.length === 0 || !existsSync(file)) return null;
  const served = await readTable(file).catch(noTable);
  if (served === null) return null;
  const sides = createSides(context, jobs, { old: served, new: table });
  const requests = await openCaptured(context, served.gateway.store);
  try {
    const report = await replayRequests(requests, GATE_REQUESTS, sides);
    if (!hasNamedChange(report, failOn)) return null;
    const { total, lost, gained, changed, changes } = report;
    return { total, lost, gained, changed, requests: changes.slice(0, NAMED).map(describeChange) };
  } finally {
    await requests.close();
  }
}

/** A table of another version is not compared, because this version was started to replace it. */
function noTable(error: unknown): null {
  if (error instanceof CliError) return null;
  throw error;
}

function describeChange({ id, route, kind, old, new: now }: RequestChange): RefusedSwap['requests'][number] {
  const isOther = old.outcome !== now.outcome || old.reason !== now.reason;
  return { id, route, kind, text: isOther ? outcomeChange(old, now) : 'different prompt or address' };
}

type Parts = ServedGateway<CliContext>;

async function loadCaptured({ service }: Parts, id: string): Promise<KeptRequest> {
  const found = await (await service.requests()).load(id);
  if (found.kind === 'found') return found.request;
  throw new ControlError(found.kind, `${found.kind} request "${id}"`);
}

/** Returns a captured request of a running gateway, with its explanation for display. */
export async function showCaptured({ service }: Parts, id: string): Promise<FoundPrinted> {
  const found = await (await service.requests()).load(id);
  if (found.kind !== 'found') return found;
  const { request } = found;
  const isSubscription = service.subscriptions.routes.some(({ name }) => name === request.route);
  return { kind: 'found', request: printedRequest(request, nextStep({ ...request, isSubscription })) };
}

/** Scripts are not run. */
export const explainCaptured = (parts: Parts, id: string): Promise<Explanation> =>
  refusing(async () => {
    const { context, service } = parts;
    const captured = await loadCaptured(parts, id);
    const plan = routeNamed(service, captured.route, captured.profile);
    const { parts: request, verifiedBy, cameAt } = requireVerifiedParts(captured);
    const how = { request, verifiedBy, cameAt, event: null, runsScript: false };
    return explainRoute(context, { plan, table: service.table, ...how });
  });

export const printCaptured = (parts: Parts, id: string, form: 'curl' | 'test'): Promise<{ readonly text: string }> =>
  refusing(async () => {
    const { context, service, url } = parts;
    const captured = await loadCaptured(parts, id);
    return { text: form === 'curl' ? printCurl(captured, url) : await asTest(context, captured, service.table) };
  });

/** Prints a `*.test.yaml` that expects the current result of the request. */
async function asTest(context: CliContext, captured: KeptRequest, table: RouteTable): Promise<string> {
  const config = testedTable(context, table, []);
  if (config.plan(captured.route)?.script == null) return printTest(captured, config, null);
  // The console starts no programs. The replacement drops the event if the script did, and otherwise changes nothing.
  const stdout = captured.reason === 'script' ? '' : Buffer.from(captured.body ?? '', 'base64').toString('utf8');
  return `# The route's script is not run: \`script\` replaces it. Remove \`script\` to run it.\n${await printTest(captured, config, null, { stdout })}`;
}
