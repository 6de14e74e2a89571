package address

import (
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
)

func TestReserved(t *testing.T) {
	kinds := []abi.ParticipantKind{abi.KindHuman, abi.KindAgent, abi.KindCompanion}
	for _, name := range []string{
		"companiond", "system", "System", "SYSTEM", "ｓｙｓｔｅｍ", "syst\u0435m", "\u0455ystem", "system\u3164", "sуstem", "system_", "-system-", "system1", "system-2", "2.system",
		"admin", "Admin", "adm1n", "AdmIn", "admln", "ADMIN2", "administrator", "root", "r00t", "moderator", "server", "daemon", "operator",
		"everyone", "everybody", "nobody", "n0body", "nu11", "null", "undefined", "none", "here",
		"システム", "ｼｽﾃﾑ", "しすてむ", "システ厶", "システム2", "管理者", "管理者１", "運営", "みんな", "ミンナ", "全員", "皆さん", "サーバー", "サ一バ一",
		"forgotten-0a1b2c3d4e", "Forgotten-x", "f0rgotten-0a1b2c3d4e", "ｆｏｒｇｏｔｔｅｎ-1", "fоrgotten-0a", "-forgotten-1", "forgotten-",
	} {
		for _, kind := range kinds {
			if why := Reserved(name, kind); !strings.Contains(why, "take a name of your own") || !strings.Contains(why, "mika") {
				t.Errorf("%+q as %s: %q", name, kind, why)
			}
		}
	}
	for _, name := range []string{
		"you", "You", "user", "User", "us\u0435r", "user1", "user-2", "user_", "guest", "guest\u034f", "human", "person", "viewer", "v1ewer", "me", "i", "I", "Ｉ", "i.",
		"あなた", "アナタ", "ユーザー", "ﾕｰｻﾞｰ", "ゆーざー", "ユ一ザ一", "ゲスト", "ゲス卜", "人間", "私", "僕", "ボク", "俺", "君", "君-", "視聴者", "リスナー", "お客さん",
	} {
		for _, kind := range kinds {
			if why := Reserved(name, kind); (why == "") != (kind == abi.KindHuman) || why != "" && !strings.Contains(why, "stands for a human; take") {
				t.Errorf("%+q as %s: %q", name, kind, why)
			}
		}
	}
	for _, name := range []string{
		"taro", "mika", "hana", "mochi", "ren", "kyoko-bot", "aki", "aya", "kyoko", "natsumi", "nikoni", "bot", "agent1", "a", "k", "e", "i7", "L", "L1", "1", "42",
		"mod", "Mod", "all", "Ali", "Nil", "Mina", "みな", "きみ", "ゆうし", "guestbook", "usher", "systema", "my-system", "user-bot", "admins", "rooty", "Noone",
		"system-of-a-down", "youko", "human-like", "サーバル", "システィ", "私立探偵", "君江", "皆川", "全", "meg", "Yui", "ユーサ", "assistant", "forgotten", "forgottenhero",
	} {
		for _, kind := range kinds {
			if why := Reserved(name, kind); why != "" {
				t.Errorf("%q as %s: %s", name, kind, why)
			}
		}
	}
}

// The words are names by themselves: a word that is none guards nothing.
func TestReservedWords(t *testing.T) {
	seen := map[string]string{}
	for _, list := range [][]string{nobodys, humans} {
		for _, w := range list {
			if err := CheckName("word", w); err != nil {
				t.Error(err)
			}
			if other := seen[w]; other != "" {
				t.Errorf("%q is there twice", w)
			}
			seen[w] = w
		}
	}
}
