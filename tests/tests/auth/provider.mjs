// A third-party OpenID Connect provider (the npm package `oidc-provider`) as the issuer of tokens.
// Prints its address once it listens, and exits when its standard input ends.

import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [packages] = process.argv.slice(2);
const found = createRequire(pathToFileURL(`${packages}/`)).resolve("oidc-provider");
const { default: Provider } = await import(pathToFileURL(found).href);

const key = (kid) => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return { ...privateKey.export({ format: "jwk" }), kid, alg: "RS256", use: "sig" };
};

const server = createServer();
server.listen(0, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    jwks: { keys: [key("first"), key("second")] },
    clients: [
      {
        client_id: "tests",
        client_secret: "of-the-tests",
        grant_types: ["client_credentials"],
        redirect_uris: [],
        response_types: [],
        token_endpoint_auth_method: "client_secret_post",
      },
    ],
    scopes: ["claims:read", "claims:write"],
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        // The audience is the last path segment of the resource: the test requests the right one and others.
        getResourceServerInfo: (_, resource) => ({
          audience: new URL(resource).pathname.slice(1),
          scope: "claims:read claims:write",
          accessTokenFormat: "jwt",
          accessTokenTTL: 300,
          jwt: { sign: { alg: "RS256" } },
        }),
      },
    },
    formats: {
      customizers: {
        jwt(_, token, { payload }) {
          payload.sub = "22222222-2222-4222-8222-222222222222";
          payload.tenant_id = "11111111-1111-4111-8111-111111111111";
          payload.principal_type = "agent";
          payload.nbf = payload.iat;
        },
      },
    },
  });
  server.on("request", provider.callback());
  console.log(issuer);
});
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
