/**
 * The base of all ratios: the minimum of a webhook server. It uses node:http, buffers the body, checks one
 * X-Hub-Signature-256, parses the JSON, fills one template and returns 202.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PROMPT, SECRET } from '../harness/payloads.ts';

function fill(payload: unknown): string {
  return PROMPT.replace(/\{([\w.-]+)\}/g, (placeholder, path: string) => {
    let value = payload;
    for (const key of path.split('.')) value = (value as Record<string, unknown> | undefined)?.[key];
    return value === undefined ? placeholder : String(value);
  });
}

function isSigned(request: IncomingMessage, body: Buffer): boolean {
  const expected = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`;
  const given = String(request.headers['x-hub-signature-256'] ?? '');
  return given.length === expected.length && timingSafeEqual(Buffer.from(given), Buffer.from(expected));
}

function answer(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

let filled = 0;
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks);
    if (!isSigned(request, body)) return answer(response, 401, { status: 'error' });
    filled += fill(JSON.parse(body.toString())).length;
    answer(response, 202, { status: 'accepted' });
  });
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('message', () => process.send?.({ filled, cpu: process.cpuUsage(), rss: process.memoryUsage().rss }));
process.on('disconnect', () => process.exit(0));
