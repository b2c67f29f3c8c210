/** A proxy between a server and PostgreSQL, which stops forwarding at a chosen statement. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A statement of a connection, and how many statements later the proxy stops. */
interface CutPoint {
  /** Finds the first statement by its text. */
  readonly from: RegExp;
  /** The number of statements of the same connection that still reach PostgreSQL, with the first one. */
  readonly count: number;
}

export interface CutConnection {
  /** The URL of the database through the proxy. */
  readonly url: string;
  /** The texts of the last statements that a point has counted. */
  readonly counted: readonly string[];
  /**
   * Forwards nothing in either direction once PostgreSQL has been sent the last statement of the point, whose response
   * is therefore lost. Resolves at that moment.
   */
  cutAt(point: CutPoint): Promise<void>;
  /** Forwards what was held back, and ends the connections that one side has ended meanwhile. */
  restore(): void;
  close(): Promise<void>;
}

export async function startCutConnection(databaseUrl: string): Promise<CutConnection> {
  const { port, hostname } = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const counted: string[] = [];
  let held: (() => void)[] | undefined;
  let waiting: (CutPoint & { counter?: Socket; cut(): void }) | undefined;

  const pass = (forward: () => void): void => {
    if (held === undefined) forward();
    else held.push(forward);
  };
  const noteStatement = (socket: Socket, text: string): void => {
    if (waiting === undefined) return;
    if (waiting.counter === undefined && waiting.from.test(text)) waiting.counter = socket;
    if (waiting.counter !== socket) return;
    counted.push(text);
    if (counted.length === waiting.count) waiting.cut();
    else if (text === 'commit') waiting = undefined;
  };
  const join = (socket: Socket): void => {
    const upstream = connect(Number(port), hostname);
    const read = createStatementReader((text) => noteStatement(socket, text));
    socket.on('data', (chunk) => {
      pass(() => upstream.write(chunk));
      read(chunk);
    });
    upstream.on('data', (chunk) => pass(() => socket.write(chunk)));
    for (const [one, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      sockets.add(one);
      one.on('error', () => undefined);
      one.on('close', () => {
        sockets.delete(one);
        pass(() => other.destroy());
      });
    }
  };

  const proxy = createServer(join).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const own = { port: String((proxy.address() as AddressInfo).port) };
  return {
    url: Object.assign(new URL(databaseUrl), own).href,
    counted,
    cutAt(point) {
      counted.length = 0;
      return new Promise((resolve) => {
        const cut = (): void => {
          waiting = undefined;
          held = [];
          resolve();
        };
        waiting = { ...point, cut };
      });
    },
    restore() {
      const all = held ?? [];
      held = undefined;
      waiting = undefined;
      for (const forward of all) forward();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      const closed = once(proxy, 'close');
      proxy.close();
      await closed;
    },
  };
}

/** The length of the type and length of a message. */
const HEADER = 5;

/**
 * Reads the messages of a client of PostgreSQL, and reports the text of each statement with its last message: a simple
 * query, or the Sync after Parse, Bind and Execute. The first message of a connection has no type.
 */
function createStatementReader(onStatement: (text: string) => void): (chunk: Buffer) => void {
  let buffer = Buffer.alloc(0);
  let hasStarted = false;
  /** The texts of the statements by their names. The one without a name changes. */
  const texts = new Map<string, string>();
  let bound = '';
  const readMessage = (type: string, body: Buffer): void => {
    if (type === 'Q') onStatement(body.toString('utf8', 0, body.indexOf(0)));
    const [first = '', second = ''] = body.toString('latin1').split('\0', 2);
    if (type === 'P') texts.set(first, second);
    // The name of the portal is before that of the statement.
    if (type === 'B') bound = texts.get(second) ?? '';
    if (type === 'S') onStatement(bound);
  };
  return (chunk) => {
    buffer = Buffer.concat([buffer, chunk]);
    if (!hasStarted && buffer.length >= 4 && buffer.length >= buffer.readInt32BE(0)) {
      buffer = buffer.subarray(buffer.readInt32BE(0));
      hasStarted = true;
    }
    while (hasStarted && buffer.length >= HEADER && buffer.length > buffer.readInt32BE(1)) {
      const end = buffer.readInt32BE(1) + 1;
      readMessage(buffer.toString('latin1', 0, 1), buffer.subarray(HEADER, end));
      buffer = buffer.subarray(end);
    }
  };
}
