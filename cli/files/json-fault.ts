/** Finds where a text is invalid JSON or has a duplicate key: `JSON.parse` does not always report the position, and keeps the last of two equal keys. */
import { createRequire } from 'node:module';

interface JsonFault {
  /** UTF-16 offset. */
  readonly offset: number;
  readonly message: string;
}

const MAX_DEPTH = 200;

/** What is expected, by the parser's name for the error. */
const EXPECTED: Readonly<Record<string, string>> = {
  ValueExpected: 'a value',
  PropertyNameExpected: 'a name in double quotes',
  ColonExpected: '":"',
  CommaExpected: '"," or the end of the map or list',
  CloseBraceExpected: '"," or "}"',
  CloseBracketExpected: '"," or "]"',
  EndOfFileExpected: 'the end of the file',
  UnexpectedEndOfString: 'a double quote at the end of the text on its line',
};

class Fault extends Error {
  readonly offset: number;
  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

/** The first fault, or null when the text is JSON without duplicate keys. */
export function findJsonFault(text: string): JsonFault | null {
  // Loaded only here: most commands read no JSON that a person may have edited.
  const { visit, printParseErrorCode }: typeof import('jsonc-parser') = createRequire(import.meta.url)('jsonc-parser');
  const names: Set<string>[] = [];
  const onBegin = (offset: number): void => {
    if (names.push(new Set()) > MAX_DEPTH + 1) throw new Fault(offset, 'nested too deeply');
  };
  const onEnd = (): void => {
    names.pop();
  };
  const onObjectProperty = (name: string, offset: number, length: number): void => {
    const written = text.slice(offset, offset + length);
    if (names.at(-1)?.has(name) === true) throw new Fault(offset, `the name ${written} stands here a second time`);
    names.at(-1)?.add(name);
  };
  const onError = (code: Parameters<typeof printParseErrorCode>[0], offset: number): void => {
    const expected = EXPECTED[printParseErrorCode(code)];
    const found = offset >= text.length ? 'the file ends' : `found ${JSON.stringify(text[offset])}`;
    throw new Fault(offset, `not JSON: ${expected === undefined ? '' : `expected ${expected}, `}${found}`);
  };
  const begins = { onObjectBegin: onBegin, onArrayBegin: onBegin, onObjectProperty };
  try {
    visit(text, { ...begins, onObjectEnd: onEnd, onArrayEnd: onEnd, onError }, { disallowComments: true });
    return null;
  } catch (fault) {
    if (fault instanceof Fault) return { offset: fault.offset, message: fault.message };
    throw fault;
  }
}
