/** Connects a server that speaks node:http to the service, which speaks fetch. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Service } from 'hookwright/runtime';

/**
 * Answers a request of node:http, Express or Fastify with the service. The body must not have been read: its bytes are what
 * is signed.
 */
export async function answerWith(service: Service, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const { method = 'GET', url = '/', headersDistinct, socket } = incoming;
  const headers = new Headers();
  for (const [name, values] of Object.entries(headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value);
  }
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const request = new Request(`http://${headers.get('host') ?? 'localhost'}${url}`, {
    method,
    headers,
    // A body that is only partly read must not close the connection before the answer.
    ...(hasBody && { body: incoming.iterator({ destroyOnReturn: false }), duplex: 'half' as const }),
  });
  const response = await service.handle(request, { address: socket.remoteAddress });
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.end(Buffer.from(await response.arrayBuffer()));
}
