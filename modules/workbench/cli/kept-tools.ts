/** Kept requests, for commands of other modules and for the console. */

import { messageOf } from '../../../base/message-of.ts';
import type { Check } from '../../../cli/base/check.ts';
import { gatewayCheck } from '../../../cli/base/check.ts';
import type { CliContext } from '../../../cli/base/context.ts';
import { CliError } from '../../../cli/base/errors.ts';
import type { KeptTools, ReadKept } from '../../../cli/base/module.ts';
import type { KeptRequest } from '../../../schemas/built/operations/types.ts';
import { RequestFileReader } from '../runtime/capture/request-file.ts';
import { capturePath, lostText, whyUnverified } from '../runtime/capture/requests.ts';
import { newest } from './diff/replay-requests.ts';
import { findRequest, useRequests } from './use-requests.ts';

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

export const keptTools: KeptTools<CliContext> = { read, check: checkFile };
