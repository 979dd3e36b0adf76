/** A reporter of node:test: the test files in which something failed, a line each. */
import type { TestEvent } from 'node:test/reporters';

// biome-ignore lint/style/noDefaultExport: node:test takes a reporter's default export
export default async function* failedFiles(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of events) {
    if (type === 'test:fail' && data.name.endsWith('.test.ts')) yield `${data.name}\n`;
  }
}
