import type { ServiceContext } from 'trellis/config';
import type { GreetingsHandlers } from '../../generated/greetings/operations.js';

/** The operations of openapi/greetings.yaml. */
export const greetingsHandlers = (_context: ServiceContext): GreetingsHandlers => ({
  async getGreeting({ params }) {
    return { status: 200, body: { text: `Hello, ${params.name}!` } };
  },
});
