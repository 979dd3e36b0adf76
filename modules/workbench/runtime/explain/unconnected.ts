/** Creates the intake of a request that comes from a file instead of a connection. */
import { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { IntakeRequest } from '../../../../runtime/intake/body.ts';
import { Intake } from '../../../../runtime/intake/intake.ts';
import type { Clock } from '../../../../runtime/platform/clock.ts';
import type { LinkedRoute } from '../../../../runtime/table/linked-table.ts';
import { RateWindow } from '../../../../runtime/table/rate-limit.ts';
import type { RequestParts } from '../../../../runtime/verify/request.ts';

export function createIntake(
  { method, url, headers, rawHeaders }: RequestParts,
  route: LinkedRoute,
  clock: Clock,
): Intake {
  const request = new IntakeRequest(new Socket());
  request.method = method;
  request.url = url;
  request.headers = headers;
  request.rawHeaders = [...rawHeaders];
  // An empty rate window.
  return new Intake(request, new ServerResponse(request), { ...route, window: new RateWindow() }, clock);
}
