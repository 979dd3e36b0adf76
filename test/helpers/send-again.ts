/** Sends as senders of webhooks do: retries events that a gateway rejects because its disk is slow. */
import type { Service } from '../../runtime/service/options.ts';

/** A disk that is slow for longer than this is not fit for a test, in ms. */
const PATIENCE_MS = 30_000;

async function again(send: () => Promise<Response>): Promise<Response> {
  for (const end = performance.now() + PATIENCE_MS; ; ) {
    const response = await send();
    const isOverloaded = response.status === 503 && (await response.clone().text()).includes('"overloaded"');
    if (!isOverloaded || performance.now() > end) return response;
    await response.body?.cancel();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

export const sendAgain = (url: string, init: RequestInit): Promise<Response> => again(() => fetch(url, init));

/** The same for a gateway in this process. */
export const handleAgain = (service: Pick<Service, 'handle'>, request: Request): Promise<Response> =>
  again(() => service.handle(request.clone()));
