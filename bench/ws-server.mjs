// The plainest server on Node that sends each message to all WebSockets: the yardstick for
// companiond's fan-out. It keeps nothing, and writes nothing to a disk.
import { createServer } from "node:http";
import { WebSocketServer } from "ws";

const http = createServer((req, res) => {
  let body = "";
  req.setEncoding("utf8");
  req.on("data", (part) => (body += part));
  req.on("end", () => {
    const payload = JSON.stringify({ type: "newMessage", message: JSON.parse(body) });
    for (const client of all.clients) {
      if (client.readyState === client.OPEN) client.send(payload);
    }
    res.setHeader("Content-Type", "application/json");
    res.end('{"success":true}');
  });
});
const all = new WebSocketServer({ server: http });

http.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => console.log(`http://127.0.0.1:${http.address().port}`));
