/** Prints a greeting: `npx jiti scripts/greet.ts Ada`, while the server runs. */
import { createGreetingsClient, decodeError } from '../src/generated/greetings/client.js';

const [name = 'you'] = process.argv.slice(2);
const client = createGreetingsClient(process.env.SERVER ?? 'http://localhost:4000/greetings');
const { data, error, response } = await client.GET('/{name}', { params: { path: { name } } });
if (!data) throw decodeError(response, error);
console.log(data.text);
