/** The store cannot be used at all; the message says what to do. */
export class StoreRefused extends Error {
  override readonly name = 'StoreRefused';
}
