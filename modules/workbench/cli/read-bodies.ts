/** Reads requests that were kept with their body, for commands of other modules. */

import type { CliContext } from '../../../cli/base/context.ts';
import { CliError } from '../../../cli/base/errors.ts';
import type { ReadKept } from '../../../cli/base/module.ts';
import type { KeptRequest } from '../../../runtime/intake/kept-request.ts';
import { whyUnverified } from '../runtime/capture/requests.ts';
import { newest } from './diff/replay-requests.ts';
import { findRequest, useRequests } from './use-requests.ts';

/** Most requests of a route. */
const MOST = 1000;

export const readBodies: ReadKept<CliContext> = (context, { ids, route }) =>
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
