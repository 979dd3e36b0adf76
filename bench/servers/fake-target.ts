/** The service in a delivery bench: reads the whole request and responds that the message was accepted. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const BODY = '{"ok":true,"result":{"message_id":7,"chat":{"id":-100},"date":1,"text":"x"}}';
const HEAD = { 'content-type': 'application/json', 'content-length': BODY.length };

const server = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(200, HEAD).end(BODY));
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('message', () => process.send?.({}));
process.on('disconnect', () => process.exit(0));
