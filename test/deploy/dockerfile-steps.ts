/** Parses our Dockerfile: the stages with their instructions, and the settings of the image's process. */
import assert from 'node:assert/strict';

export interface Instruction {
  readonly name: string;
  readonly text: string;
}

export interface Stage {
  readonly name: string;
  readonly base: string;
  readonly steps: readonly Instruction[];
}

export function parseDockerfile(text: string): readonly Stage[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  const stages: { name: string; base: string; steps: Instruction[] }[] = [];
  for (const line of lines) {
    const [, name = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    const [base = '', , alias = ''] = rest.split(' ');
    if (name === 'FROM') stages.push({ name: alias, base, steps: [] });
    else stages.at(-1)?.steps.push({ name, text: rest });
  }
  return stages;
}

/** The words of an instruction in exec form (`["a", "b"]`); a shell command for one in shell form. */
export const argvOf = (text: string): readonly string[] =>
  text.startsWith('[') ? (JSON.parse(text) as readonly string[]) : ['sh', '-c', text];

/** `A=1 B=2` */
export const variablesOf = (text: string): readonly (readonly [string, string])[] =>
  text.split(' ').map((word) => {
    const at = word.indexOf('=');
    assert.ok(at > 0, word);
    return [word.slice(0, at), word.slice(at + 1)];
  });
