/** Captured requests for other modules, the console and the gate before a swap. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../../base/errors.ts';
import type { CliContext } from '../../../cli/base/context.ts';
import { CliError } from '../../../cli/base/errors.ts';
import type { Check, GateContext, KeptTools, ReadKept, ServedGateway } from '../../../cli/base/module.ts';
import { gatewayCheck } from '../../../cli/base/module.ts';
import { refusing } from '../../../cli/serve/reloader.ts';
import { ControlError } from '../../../runtime/control/control-error.ts';
import { printedRequest } from '../../../runtime/intake/keeper.ts';
import type { FailOn, FoundPrinted, KeptRequest, RefusedSwap } from '../../../schemas/built/operations/types.ts';
import type { Explanation, RouteTable } from '../../../schemas/generated/types.ts';
import { RequestFileReader } from '../runtime/capture/request-file.ts';
import { capturePath, lostText, whyUnverified } from '../runtime/capture/requests.ts';
import type { RequestChange } from './diff/replay-requests.ts';
import { createSides, isFound, newest, replayRequests } from './diff/replay-requests.ts';
import { outcomeChange, readTable } from './diff.ts';
import { explainRoute } from './explain/explain-route.ts';
import { keptParts } from './explain/read-request.ts';
import { nextStep, printCurl, printTest } from './requests/print-request.ts';
import { testedTable } from './test/load-tests.ts';
import { routeNamed } from './test-event/sign-test-event.ts';
import { findRequest, openKept, useRequests } from './use-requests.ts';

/** Most requests of a route. */
const MOST = 1000;

const read: ReadKept<CliContext> = (context, { ids, route }) =>
  useRequests(context, async (requests) => {
    const found: KeptRequest[] = [];
    for (const id of ids) {
      const kept = await findRequest(requests, id);
      if (kept.body === null) throw new CliError(`the body of ${kept.id} was not kept: ${whyUnverified(kept)}`);
      found.push(kept);
    }
    if (route === null) return found;
    let seen = 0;
    for await (const kept of newest(requests, MOST, { route })) {
      seen++;
      if (kept.body !== null) found.push(kept);
    }
    if (found.length > 0) return found;
    const which = seen === 0 ? 'no request' : `none of ${seen} requests`;
    throw new CliError(
      `${which} of the route "${route}" was kept with its body`,
      'hookwright requests list shows what is kept',
    );
  });

/** In the file itself: with a gateway or without one. */
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
    subject: 'kept requests',
    check: 'undamaged',
    status: 'warning',
    detail,
    fix: 'check the disk; this report ends after gateway.capture_days',
  });

/** Kept requests, for commands of other modules and for the console. */
export const keptTools: KeptTools<CliContext> = { read, check: checkFile };

/** Number of kept requests that are replayed before a swap; the newest are used. */
const GATE_REQUESTS = 1000;
/** Maximum number of requests with another outcome that are named. */
const NAMED = 10;

/** @param folder of the table in service; without one there is nothing to compare with @returns null if it may pass */
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
  const requests = await openKept(context, served.gateway.store);
  try {
    const report = await replayRequests(requests, GATE_REQUESTS, sides);
    if (!isFound(report, failOn)) return null;
    const { total, lost, gained, changed, changes } = report;
    return { total, lost, gained, changed, requests: changes.slice(0, NAMED).map(named) };
  } finally {
    await requests.close();
  }
}

/** A table of another version is not compared: this version was started to replace it. */
function noTable(error: unknown): null {
  if (error instanceof CliError) return null;
  throw error;
}

function named({ id, route, kind, old, new: now }: RequestChange): RefusedSwap['requests'][number] {
  const isOther = old.outcome !== now.outcome || old.reason !== now.reason;
  return { id, route, kind, text: isOther ? outcomeChange(old, now) : 'another prompt or address' };
}

type Parts = ServedGateway<CliContext>;

async function keptNamed({ service }: Parts, id: string): Promise<KeptRequest> {
  const found = await (await service.requests()).load(id);
  if (found.kind === 'found') return found.request;
  throw new ControlError(found.kind, `${found.kind} request "${id}"`);
}

/** What is shown of a kept request of a running gateway beside itself. */
export async function showKept({ service }: Parts, id: string): Promise<FoundPrinted> {
  const found = await (await service.requests()).load(id);
  if (found.kind !== 'found') return found;
  const { request } = found;
  const isSubscription = service.subscriptions.routes.some(({ name }) => name === request.route);
  return { kind: 'found', request: printedRequest(request, nextStep({ ...request, isSubscription })) };
}

/** No script runs. */
export const explainKept = (parts: Parts, id: string): Promise<Explanation> =>
  refusing(async () => {
    const { context, service } = parts;
    const kept = await keptNamed(parts, id);
    const plan = routeNamed(service, kept.route, kept.profile);
    const { parts: request, verifiedBy, cameAt } = keptParts(kept);
    const how = { request, verifiedBy, cameAt, event: null, runsScript: false };
    return explainRoute(context, { plan, table: service.table, ...how });
  });

export const printKept = (parts: Parts, id: string, form: 'curl' | 'test'): Promise<{ readonly text: string }> =>
  refusing(async () => {
    const { context, service, url } = parts;
    const kept = await keptNamed(parts, id);
    return { text: form === 'curl' ? printCurl(kept, url) : await asTest(context, kept, service.table) };
  });

/** A `*.test.yaml` that expects what becomes of it now. */
async function asTest(context: CliContext, kept: KeptRequest, table: RouteTable): Promise<string> {
  const config = testedTable(context, table, []);
  if (config.plan(kept.route)?.script == null) return printTest(kept, config, null);
  // A page starts no program: what stands in for it drops the event where the script did, and else changes nothing.
  const stdout = kept.reason === 'script' ? '' : Buffer.from(kept.body ?? '', 'base64').toString('utf8');
  return `# The script is not run: \`script\` stands in for it. Without that, it runs.\n${await printTest(kept, config, null, { stdout })}`;
}
