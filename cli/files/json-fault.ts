/** Finds where a text is invalid JSON or has a duplicate key: `JSON.parse` does not always report the position, and keeps the last of two equal keys. */

export interface JsonFault {
  /** UTF-16 offset. */
  readonly offset: number;
  readonly message: string;
}

/** The first fault, or null when the text is JSON without duplicate keys. */
export function findJsonFault(text: string): JsonFault | null {
  try {
    const scanner = new Scanner(text);
    scanner.value(0);
    scanner.end();
    return null;
  } catch (fault) {
    if (fault instanceof Fault) return { offset: fault.offset, message: fault.message };
    throw fault;
  }
}

class Fault extends Error {
  readonly offset: number;
  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

const MAX_DEPTH = 200;
const SPACE = /[ \t\r\n]*/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

class Scanner {
  private readonly text: string;
  private at = 0;

  constructor(text: string) {
    this.text = text;
  }

  value(depth: number): void {
    this.match(SPACE);
    if (depth > MAX_DEPTH) throw new Fault(this.at, 'nested too deeply');
    if (this.take('{')) this.members('}', depth, new Set());
    else if (this.take('[')) this.members(']', depth, null);
    else if (this.match(STRING) === null && this.match(SCALAR) === null) this.fail('a value');
    this.match(SPACE);
  }

  end(): void {
    if (this.at < this.text.length) this.fail('the end of the file');
  }

  private members(close: string, depth: number, keys: Set<string> | null): void {
    this.match(SPACE);
    if (this.take(close)) return;
    do {
      this.match(SPACE);
      if (keys !== null) this.key(keys);
      this.value(depth + 1);
    } while (this.take(','));
    if (!this.take(close)) this.fail(`"," or "${close}"`);
  }

  private key(keys: Set<string>): void {
    const from = this.at;
    const key = this.match(STRING) ?? this.fail('a name in double quotes');
    const name = JSON.parse(key) as string;
    if (keys.has(name)) throw new Fault(from, `the name ${key} stands here a second time`);
    keys.add(name);
    this.match(SPACE);
    if (!this.take(':')) this.fail('":"');
  }

  private take(character: string): boolean {
    if (this.text[this.at] !== character) return false;
    this.at += 1;
    return true;
  }

  private match(pattern: RegExp): string | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0] ?? null;
    this.at += found?.length ?? 0;
    return found;
  }

  private fail(expected: string): never {
    const found = this.at >= this.text.length ? 'the file ends' : `found ${JSON.stringify(this.text[this.at])}`;
    throw new Fault(this.at, `not JSON: expected ${expected}, ${found}`);
  }
}
