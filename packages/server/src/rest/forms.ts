/** Forms, whose fields are text until the contract gives them a type. */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import { AppError } from '@trellis/core/errors';
import { findDeclaredType, IncompleteBody, requireNoNul } from '../http/body.js';
import type { FieldSpec, FileSpec, FormSpec, UploadedFile } from './operation.js';
import { readTextValues, type TextSource, type TextValues } from './text-values.js';

export const FORM_TYPE = 'application/x-www-form-urlencoded';
export const MULTIPART_TYPE = 'multipart/form-data';

/**
 * Reads the fields of a form. Fields that the contract does not name are text, or lists of text, and left to its schema.
 *
 * @throws AppError `invalid_input` with the name of the field.
 */
export function readForm(fields: readonly FieldSpec[], source: TextSource): TextValues {
  const values = readTextValues(fields, source);
  const others = [...source.names()].filter((name) => !fields.some((field) => isNameOf(field, name)));
  if (others.includes('__proto__')) throw new AppError('malformed_body', 'The field name "__proto__" is not allowed.');
  const texts = others.map((name) => {
    const [text, ...more] = source.find(name);
    return [name, more.length === 0 ? text : [text, ...more]] as const;
  });
  return { ...values, ...Object.fromEntries(texts) };
}

/** Returns whether a name belongs to a field: an object may be written with a name for each property. */
function isNameOf({ name, properties = {}, style, others, isJson }: FieldSpec, given: string): boolean {
  if (given === name) return true;
  if (isJson) return false;
  return style === 'deepObject'
    ? given.startsWith(`${name}[`)
    : others !== undefined || Object.hasOwn(properties, given);
}

/** Far more than the fields and files of any form. */
const MAX_PARTS = 1_000;

/** The headers of a part are its name, file name and type. */
const MAX_HEADER_BYTES = 8_192;

/**
 * How much of the files is read before the handler is called. The fields of a form that is not longer may come in any
 * order; in longer ones they come before the files.
 */
const READ_AHEAD_BYTES = 1024 ** 2;

interface MultipartOptions extends FormSpec {
  /** The limit of the whole body. */
  readonly maxBytes: number;
}

interface MultipartForm {
  readonly fields: TextValues;
  /** The fields, or fields and files if the contract has files. */
  readonly value: unknown;
}

/**
 * Reads the fields of a form and the beginning of its files.
 *
 * @throws AppError `malformed_body`, `too_large`, `unsupported_media_type` for a file of a different type,
 * `invalid_input` with the name of the field, or `unavailable` while too many bodies of the client are incomplete. Errors
 * in files that are not read yet are thrown to the handler.
 */
export async function readMultipart(request: IncomingMessage, options: MultipartOptions): Promise<MultipartForm> {
  const reader = new MultipartReader(request, options);
  await reader.opened;
  const texts = reader.texts;
  const find = (name: string): readonly string[] => texts.get(name) ?? [];
  const source = { word: 'field', isForm: true, find, findEncoded: find, names: () => texts.keys() };
  const fields = readForm(options.fields, { ...source, decode: (text) => text });
  return { fields, value: options.files === undefined ? fields : { fields, files: reader.files() } };
}

/** A file that is being received. */
interface OpenFile extends UploadedFile {
  readonly content: Readable;
}

class MultipartReader {
  /** Resolves when the fields are complete: at the end of the form, or when enough of its files is buffered. */
  readonly opened: Promise<void>;
  readonly texts = new Map<string, string[]>();
  readonly #request: IncomingMessage;
  readonly #options: MultipartOptions;
  readonly #specs: ReadonlyMap<string, FileSpec>;
  readonly #parser: BusboyInstance;
  /** Counts the fields, and as much of the files as is read ahead. */
  readonly #incomplete: IncompleteBody;
  readonly #counts = new Map<string, number>();
  /** The files that the handler has not asked for. */
  readonly #waiting: OpenFile[] = [];
  /** The files whose content is not read completely. */
  readonly #open = new Set<OpenFile>();
  #size = 0;
  #isOpened = false;
  #isComplete = false;
  #failure: Error | undefined;
  #settle: { readonly resolve: () => void; readonly reject: (error: unknown) => void } | undefined;
  #wake: () => void = () => undefined;

  constructor(request: IncomingMessage, options: MultipartOptions) {
    this.#request = request;
    this.#options = options;
    this.#incomplete = new IncompleteBody(request);
    this.#specs = new Map((options.files ?? []).map((file) => [file.name, file]));
    this.opened = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
    this.#parser = this.#createParser();
    if (Number(request.headers['content-length'] ?? 0) > options.maxBytes) this.#fail(this.#tooLarge());
    else this.#listen();
  }

  /** The files in the order of the form. The rest of a file is skipped when the handler asks for the next. */
  async *files(): AsyncGenerator<UploadedFile> {
    for (;;) {
      const file = this.#waiting.shift();
      if (file !== undefined) {
        yield file;
        file.content.resume();
      } else if (this.#failure !== undefined) {
        throw this.#failure;
      } else if (this.#isComplete) {
        return;
      } else {
        await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    }
  }

  #createParser(): BusboyInstance {
    const { headers } = this.#request;
    const { fields, maxBytes } = this.#options;
    const names = new Set(fields.map(({ name }) => name));
    try {
      return new Busboy({
        headers: { ...headers, 'content-type': headers['content-type'] ?? MULTIPART_TYPE },
        limits: { fieldSize: maxBytes, parts: MAX_PARTS, headerSize: MAX_HEADER_BYTES },
        // A field may be sent as a blob, which has a file name.
        isPartAFile: (name = '', _type, filename) =>
          this.#specs.has(name) || (filename !== undefined && !names.has(name)),
      });
    } catch (cause) {
      throw new AppError('malformed_body', 'Expected a boundary in the Content-Type of the form.', { cause });
    }
  }

  #listen(): void {
    const [request, parser] = [this.#request, this.#parser];
    parser.on('field', (name, text, _nameTruncated, _textTruncated, encoding) =>
      this.#attempt(() => this.#addField(name, text, encoding)),
    );
    parser.on('file', (name, stream, filename, encoding, type) => {
      // A stream without a reader would keep the parser waiting.
      stream.on('error', () => undefined);
      const part = { name, filename, contentType: type };
      const add = (): void => this.#attempt(() => this.#addFile(stream, part, encoding));
      if (filename === '') onceReadable(stream, add);
      else add();
      stream.resume();
    });
    parser.once('partsLimit', () => this.#fail(malformed(`Expected at most ${MAX_PARTS} parts in the form.`)));
    parser.once('error', (cause) => this.#fail(malformed('The form is not valid multipart/form-data.', cause)));
    parser.once('finish', () => this.#attempt(() => this.#complete()));
    parser.on('drain', () => this.#flow());
    request.on('data', (chunk: Buffer) => this.#write(chunk));
    request.once('end', () => parser.end());
    const close = (): void => {
      if (!request.readableEnded) this.#fail(malformed('The connection closed before the whole body arrived.'));
    };
    request.once('close', close);
    // The client disconnected earlier, such as while its credential was verified. No event follows.
    if (request.closed) close();
  }

  #write(chunk: Buffer): void {
    this.#size += chunk.length;
    this.#attempt(() => {
      if (this.#size > this.#options.maxBytes) throw this.#tooLarge();
      // Later bytes take the place of those that the handler has read.
      if (!this.#isOpened) this.#incomplete.hold(this.#size);
      if (!this.#parser.write(chunk)) this.#request.pause();
    });
  }

  /** Reads on if the handler has caught up. */
  #flow(): void {
    if (this.#failure !== undefined || this.#isComplete) return;
    if (this.#buffered() < READ_AHEAD_BYTES) {
      if (!this.#parser.writableNeedDrain) this.#request.resume();
      return;
    }
    this.#request.pause();
    this.#start();
  }

  #buffered(): number {
    return [...this.#open].reduce((sum, { content }) => sum + content.readableLength, 0);
  }

  #addField(name: string | undefined, text: string, encoding: string): void {
    if (name === undefined) throw malformed('A part of the form has no name.');
    requirePlain(name, encoding);
    requireNoNul(text);
    if (this.#isOpened) {
      const message = `Expected the field "${name}" before the files, as in every form of more than 1 MiB.`;
      throw new AppError('malformed_body', message, { field: name });
    }
    const known = this.texts.get(name);
    if (known === undefined) this.texts.set(name, [text]);
    else known.push(text);
  }

  #addFile(stream: BusboyFileStream, part: Omit<UploadedFile, 'content'>, encoding: string): void {
    const spec = this.#specs.get(part.name);
    if (spec === undefined) throw invalid(part.name, 'is not a file of this form');
    this.#count(spec);
    requirePlain(part.name, encoding);
    requireType(spec, part.contentType);
    // A stream asks for more before it hands out what it has.
    const content = new Readable({ read: () => process.nextTick(() => this.#flow()) });
    const file = { ...part, content };
    this.#open.add(file);
    this.#waiting.push(file);
    content
      .on('error', () => undefined)
      .once('close', () => {
        this.#open.delete(file);
        this.#flow();
      });
    this.#receive(stream, file, spec);
    this.#wake();
  }

  #receive(stream: BusboyFileStream, { content }: OpenFile, { name, maxBytes = Infinity }: FileSpec): void {
    let size = 0;
    stream.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) {
        const message = `Expected the file "${name}" to have at most ${maxBytes} bytes; received more.`;
        this.#fail(new AppError('too_large', message, { field: name }));
        return;
      }
      content.push(chunk);
      this.#flow();
    });
    stream.once('end', () => {
      if (this.#failure === undefined) content.push(null);
    });
  }

  #count({ name, list, maxItems = Infinity }: FileSpec): void {
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    const limit = list ? maxItems : 1;
    if (count > limit) throw invalid(name, `must have at most ${limit} ${limit === 1 ? 'file' : 'files'}`);
  }

  #complete(): void {
    for (const { name, required, minItems = 1 } of this.#specs.values()) {
      const count = this.#counts.get(name) ?? 0;
      if ((required || count > 0) && count < minItems) {
        throw invalid(name, minItems === 1 ? 'is required' : `must have at least ${minItems} files`);
      }
    }
    this.#isComplete = true;
    this.#start();
    this.#wake();
  }

  #start(): void {
    this.#isOpened = true;
    this.#settle?.resolve();
  }

  #attempt(step: () => void): void {
    if (this.#failure !== undefined) return;
    try {
      step();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Stops reading. Closing the connection would keep the response from the client. */
  #fail(error: unknown): void {
    if (this.#failure !== undefined || this.#isComplete) return;
    const failure = error instanceof Error ? error : new Error('The form could not be read.', { cause: error });
    this.#failure = failure;
    this.#request.removeAllListeners('data').pause();
    for (const { content } of this.#open) content.destroy(failure);
    this.#settle?.reject(failure);
    this.#wake();
  }

  #tooLarge(): AppError {
    return new AppError('too_large', `Expected a body of at most ${this.#options.maxBytes} bytes; received more.`);
  }
}

/** Browsers send an empty file without a name for an input whose file was not chosen. It counts as absent. */
function onceReadable(stream: BusboyFileStream, add: () => void): void {
  stream.once('readable', () => {
    if (stream.readableLength > 0) add();
    stream.resume();
  });
}

/** Rejects base64 and quoted-printable, which RFC 7578, 4.7, deprecates: the handler would receive different bytes. */
function requirePlain(name: string, encoding: string): void {
  if (['7bit', '8bit', 'binary'].includes(encoding.toLowerCase())) return;
  const field = name.slice(0, 40);
  const message = `Expected the field "${field}" as it is, without Content-Transfer-Encoding.`;
  throw new AppError('unsupported_media_type', message, { field });
}

function requireType({ name, contentTypes }: FileSpec, type: string): void {
  if (contentTypes === undefined || findDeclaredType(type, contentTypes) !== undefined) return;
  const message = `Expected the file "${name}" to be of type ${contentTypes.join(' or ')}; received a different type.`;
  throw new AppError('unsupported_media_type', message, { field: name });
}

function invalid(name: string, problem: string): AppError {
  return new AppError('invalid_input', `The field "${name.slice(0, 40)}" ${problem}.`, { field: name.slice(0, 40) });
}

function malformed(message: string, cause?: unknown): AppError {
  return new AppError('malformed_body', message, { cause });
}
