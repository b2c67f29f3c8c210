import { Heading } from './heading.js';

export function NotFound() {
  return (
    <>
      <Heading>Page not found</Heading>
      <p>
        There is no page at this address. <a href="/">Back to the home page</a>
      </p>
    </>
  );
}
