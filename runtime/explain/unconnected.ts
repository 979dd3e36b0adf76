/** Creates the intake of a request that comes from a file instead of a connection. */
import { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { IntakeRequest } from '../intake/body.ts';
import { Intake } from '../intake/intake.ts';
import type { Clock } from '../platform/clock.ts';
import type { LinkedRoute } from '../table/linked-table.ts';
import { RateWindow } from '../table/rate-limit.ts';
import type { RequestParts } from '../verify/request.ts';

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
