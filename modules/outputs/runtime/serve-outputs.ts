/**
 * Declares the outputs of a run as tools of MCP (Model Context Protocol) over stdio, and appends each call to the file of outputs.
 * It checks a call as the gateway will, so that a model can correct it; the gateway, which reads the file, decides.
 */
import { appendFile, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { codeOf } from '../../../base/errors.ts';
import { DECLARATION, linesOf, MAX_BYTES } from '../../../runtime/dispatch/agents/outputs-folder.ts';
import type { Declaration } from './open-handover.ts';
import { lineChecker, MAX_LINES } from './open-handover.ts';

/**
 * Serves until stdin ends.
 * @param file the file of outputs, beside the declaration; rejects with a system error if the declaration cannot be read
 */
export async function serveOutputs(file: string): Promise<void> {
  const { tools, accepted } = JSON.parse(await readFile(join(dirname(file), DECLARATION), 'utf8')) as Declaration;
  const server = new Server(
    { name: 'hookwright', version: '1' },
    {
      capabilities: { tools: {} },
      instructions: 'Call these tools to hand over results. They are sent once you have finished.',
    },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: tools.map(({ name, description, parameters }) => {
      return { name, description, inputSchema: { ...parameters, type: 'object' as const } };
    }),
  }));
  let last: Promise<unknown> = Promise.resolve();
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
    // One after the other, because each counts the earlier ones.
    const result = last.then(() => handOver(file, accepted, { ...params.arguments, output: params.name }));
    last = result.catch(() => {});
    return result;
  });
  const ended = new Promise<void>((resolve) => process.stdin.once('end', resolve));
  await server.connect(new StdioServerTransport());
  await ended;
  await last;
  await server.close();
}

/** Calls count together with the lines that the program wrote itself. */
async function handOver(file: string, accepted: Declaration['accepted'], output: object): Promise<CallToolResult> {
  const before = await readFile(file, 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return '';
    throw error;
  });
  const lines = linesOf(before);
  const line = JSON.stringify(output);
  const check = lineChecker(accepted, (text) => text);
  lines.forEach(check);
  const checked = check(line);
  if ('reason' in checked) return failure(checked.detail);
  if (lines.length >= MAX_LINES) return failure(`at most ${MAX_LINES} outputs in one run`);
  const text = `${before === '' || before.endsWith('\n') ? '' : '\n'}${line}\n`;
  if (Buffer.byteLength(before + text) > MAX_BYTES)
    return failure(`all outputs of a run together have at most ${MAX_BYTES} bytes`);
  await appendFile(file, text, { mode: 0o600 });
  return { content: [{ type: 'text', text: 'Accepted. It is sent once the run has ended well.' }] };
}

const failure = (text: string): CallToolResult => ({
  content: [{ type: 'text', text: `Not accepted: ${text}` }],
  isError: true,
});
