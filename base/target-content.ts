/** What an agent may fill of a target that declares nothing. */
const TEXT_ONLY = [{ name: 'text', kind: 'text', required: true, help: 'The message.' }] as const;

/** The fields of a message to a target that an agent may fill. */
export const contentOf = <Field>({
  content,
}: {
  readonly content?: readonly Field[];
}): readonly (Field | (typeof TEXT_ONLY)[number])[] => content ?? TEXT_ONLY;
